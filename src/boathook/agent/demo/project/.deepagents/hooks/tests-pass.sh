#!/usr/bin/env bash
# Stop: exit 2 sends the agent back to work, and stderr tells it what is left.
if ! report=$(python3 -B -m unittest 2>&1); then
  echo "The tests do not pass yet:" >&2
  printf '%s\n' "$report" | grep -E '^(FAIL|ERROR): ' | cut -d ' ' -f 1,2 >&2
  exit 2
fi
