#!/usr/bin/env bash
# SessionEnd: a last word for the person.
heard=$(wc -l < .deepagents/events.jsonl | tr -d ' ')
echo "{\"systemMessage\": \"Fair winds. $heard notifications so far in .deepagents/events.jsonl.\"}"
