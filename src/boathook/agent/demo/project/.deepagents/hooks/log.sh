#!/bin/sh
# Every notification, one JSON object a line. Nothing said here changes anything.
cat >> .deepagents/events.jsonl
