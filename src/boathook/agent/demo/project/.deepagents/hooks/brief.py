#!/usr/bin/env python3
"""SessionStart: hand the house rules to the model before it reads the prompt."""

import json
from pathlib import Path

rules = Path("HOUSE-RULES.md").read_text(encoding="utf-8")
answer = {"hookEventName": "SessionStart", "additionalContext": f"House rules:\n{rules}"}
print(json.dumps({"hookSpecificOutput": answer}))
