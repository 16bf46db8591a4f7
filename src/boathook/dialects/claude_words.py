"""What Claude Code's handlers hear and say, between its words and ours.

Where the two agree nothing is done. They differ in this: there, JSON is read whatever the exit
status; exit 2 blocks and what JSON says beside it counts too; a permission request heeds only
JSON; text that is no JSON is nobody's business but for two events.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from boathook.dialects import carry
from boathook.dialects.permission_rule import RuleError, parse
from boathook.dialects.replies import as_stdout, object_of, printed_object, text_of
from boathook.terms.events import Block, Verdict
from boathook.terms.problem import Problem

if TYPE_CHECKING:
    from boathook.dialects.dialect import Heard, Said
    from boathook.dialects.permission_rule import Rule

DISCARDING: Final = frozenset({"Notification", "PreCompact", "SessionEnd"})
"""Events on which Claude Code drops `continue` and `systemMessage`."""

_FILE_TOOLS: Final = frozenset({"Read", "Write", "Edit"})
_OBJECT: Final = re.compile(r'\{\s*"')
_INNER: Final = "hookSpecificOutput"


def payload(heard: Heard, theirs: dict[str, Any]) -> dict[str, Any]:
    """Make paths of files absolute, and give a shell's result the shape that it has there."""
    name, arguments = theirs.get("tool_name"), theirs.get("tool_input")
    if name in _FILE_TOOLS and isinstance(arguments, dict) and isinstance(arguments.get("file_path"), str):
        folder = str(theirs.get("cwd") or heard.root)
        path = os.path.normpath(Path(folder, os.path.expanduser(arguments["file_path"])))  # noqa: PTH111
        theirs["tool_input"] = {**arguments, "file_path": path}
    if name == "Bash" and isinstance(theirs.get("tool_response"), str):
        told = {"stdout": theirs["tool_response"], "stderr": "", "interrupted": False, "isImage": False}
        theirs["tool_response"] = told
    return theirs


def variables(heard: Heard) -> dict[str, str]:
    """Return what Claude Code's handlers find in their environment, beside the project's folder."""
    return {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": str(heard.payload.get("session_id") or "")[:4096]}


@lru_cache(maxsize=1024)
def rule_of(condition: str) -> Rule | None:
    """Return the rule of an `if`, None where it cannot be read: then it fits every call."""
    try:
        return parse(condition)
    except RuleError:
        return None


def fault(condition: str) -> str | None:
    """Say what is wrong with an `if`, None where nothing is."""
    try:
        parse(condition)
    except RuleError as error:
        return str(error)
    return None


def applies(heard: Heard) -> bool:
    """Whether a call fits the handler's `if`."""
    if heard.handler.condition is None:
        return True
    rule = rule_of(heard.handler.condition)
    if rule is None:
        return True
    theirs = carry.payload(heard)
    name, arguments = theirs.get("tool_name"), theirs.get("tool_input")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return True  # what cannot be judged must not keep a guard from running
    folder = Path(str(theirs.get("cwd") or heard.root))
    return rule.matches(name, arguments, cwd=folder, home=Path.home(), project=Path(heard.root))


def answer(heard: Heard, said: Said) -> Said:
    """Put what a handler said into our words."""
    reply = printed_object(said.stdout)
    if reply is None:
        return _without_json(heard, said)
    if said.code == 2:
        reply = _blocking(heard, reply, said.stderr.decode("utf-8", "replace").strip())
    reply.pop("suppressOutput", None)  # accepted there, and without effect
    if heard.row.name in DISCARDING:
        reply = {key: value for key, value in reply.items() if key not in {"continue", "systemMessage"}}
    if heard.row.block is Block.CONTINUE:
        reply = _going_on(reply)
    reply = _with_own_keys(heard, reply)
    problems = said.problems
    if heard.handler.condition is not None and rule_of(heard.handler.condition) is None:
        reply, voided = _not_allowing(reply)
        problems = (*problems, *voided)
    return replace(said, code=0, stdout=as_stdout(reply), problems=problems)


def _without_json(heard: Heard, said: Said) -> Said:
    text = said.stdout.decode("utf-8", "replace").strip()
    if said.code == 2 and heard.row.verdict is Verdict.PERMISSION:
        found = "exit status 2 says nothing on a permission request in Claude Code; the question is asked as usual."
        advice = 'To deny, print {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny"}}}.'
        return replace(said, code=0, stdout=b"", problems=(Problem("answer-cannot-block", found, advice),))
    if said.code != 0 or not text or text.startswith("{"):
        return said
    if not heard.row.text:
        # Text is for its debug log there. What looks like a lost decision is left for us to report.
        return said if _OBJECT.search(text) else replace(said, stdout=b"")
    inner = {"hookEventName": heard.row.name, "additionalContext": text}
    return replace(said, stdout=as_stdout({_INNER: inner}))


def _blocking(heard: Heard, reply: dict[str, Any], stderr: str) -> dict[str, Any]:
    """Exit 2 beside JSON: blocked whatever the JSON decides, for its blocking reason or the one on stderr."""
    inner = object_of(reply.get(_INNER))
    if heard.row.verdict is Verdict.PERMISSION:
        return reply
    own = text_of(reply.get("reason")) if reply.get("decision") == "block" else ""
    if heard.row.verdict is Verdict.TOOL:
        denied = inner.get("permissionDecision") == "deny"
        own = text_of(inner.get("permissionDecisionReason")) if denied else own
        inner = {key: value for key, value in inner.items() if key != "updatedInput"}
        inner |= {
            "hookEventName": heard.row.name,
            "permissionDecision": "deny",
            "permissionDecisionReason": own or stderr,
        }
        return {**{key: value for key, value in reply.items() if key != "decision"}, _INNER: inner}
    return {**reply, "decision": "block", "reason": own or stderr}


def _going_on(reply: dict[str, Any]) -> dict[str, Any]:
    """`additionalContext` keeps a turn going there, as a block does."""
    inner = object_of(reply.get(_INNER))
    words = text_of(inner.pop("additionalContext", None))
    if not words.strip() or reply.get("continue") is False:
        return reply
    reason = "\n".join(filter(None, (text_of(reply.get("reason")), words)))
    return {**reply, _INNER: inner, "decision": "block", "reason": reason}


def _with_own_keys(heard: Heard, reply: dict[str, Any]) -> dict[str, Any]:
    """Put changed arguments back under our keys."""
    row = heard.dialect.tool(str(heard.payload.get("tool_name")))
    inner = object_of(reply.get(_INNER))
    if row is None or not row.keys or not inner:
        return reply
    decision = object_of(inner.get("decision"))
    for holder in (inner, decision):
        if isinstance(holder.get("updatedInput"), dict):
            holder["updatedInput"] = carry.arguments_back(row, holder["updatedInput"])
    if decision:
        inner["decision"] = decision
    return {**reply, _INNER: inner}


def _not_allowing(reply: dict[str, Any]) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """Take back an allow that came from a handler whose `if` could not be read."""
    inner = object_of(reply.get(_INNER))
    allows = (
        reply.get("decision") == "approve"
        or inner.get("permissionDecision") == "allow"
        or object_of(inner.get("decision")).get("behavior") == "allow"
    )
    if not allows:
        return reply, ()
    kept = {key: value for key, value in inner.items() if key not in {"permissionDecision", "decision"}}
    found = "the allow does not count, because the handler's `if` could not be read."
    told = {key: value for key, value in reply.items() if key != "decision"}
    return {**told, _INNER: kept}, (Problem("answer-void", found, "Mend the `if`."),)
