#!/usr/bin/env python3
"""PostToolUse on Edit and Write: tidy the file that was just changed, and tell the model."""

import json
import sys
from pathlib import Path

call = json.load(sys.stdin)
file = Path(call["tool_input"]["file_path"])

before = file.read_text(encoding="utf-8").splitlines()
after = [line.expandtabs(4).rstrip() for line in before]
changed = sum(old != new for old, new in zip(before, after))

if changed:
    file.write_text("\n".join(after) + "\n", encoding="utf-8")
    words = f"Tidied {file.name}: tabs and trailing spaces in {changed} line(s)."
    answer = {"hookEventName": "PostToolUse", "additionalContext": words}
    print(json.dumps({"hookSpecificOutput": answer}))
