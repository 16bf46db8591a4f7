#!/usr/bin/env python3
"""PreToolUse on Edit and Write: code inside the project may be changed, the tests may not."""

import json
import sys
from pathlib import Path

call = json.load(sys.stdin)
file = Path(call["tool_input"]["file_path"]).resolve()

if file.name.startswith("test_"):
    print("The tests are not yours to mend.", file=sys.stderr)
    sys.exit(2)

if file.is_relative_to(Path.cwd()):  # a hook runs in the project's root
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    print(json.dumps({"hookSpecificOutput": answer}))
