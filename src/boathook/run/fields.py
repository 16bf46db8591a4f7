"""One JSON answer, judged field by field against its event's row (contract sections 6 to 8)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from boathook.run.reply import Printed
from boathook.terms.events import Block, Verdict, nearest
from boathook.terms.outcome import SILENT, Answer
from boathook.terms.problem import Problem
from boathook.terms.text import cut, excerpt, safe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boathook.terms.events import Event
    from boathook.terms.outcome import Permission

UNIVERSAL: Final = (
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "hookSpecificOutput",
    "decision",
    "reason",
)
UNKNOWN_SHOWN: Final = 5
"""Keys of one object that are said to mean nothing; a thousand would be no better."""

_DECIDING: Final = frozenset({"permissionDecision", "behavior"})
_STRICTNESS: Final[Mapping[Permission | None, int]] = {None: 0, "allow": 1, "ask": 2, "deny": 3}


@dataclass(frozen=True, slots=True)
class Judged:
    """What an answer came to. `failure` is set where a decision in it could not be read."""

    answer: Answer = SILENT
    problems: tuple[Problem, ...] = ()
    failure: Problem | None = None


def judge(printed: Printed, row: Event, payload: Mapping[str, Any], fallback: str) -> Judged:
    """Judge the object that a handler printed with exit 0; `fallback` stands in for a reason."""
    repeats = _repeated_keys(printed.value, payload)
    if len(repeats) == len(printed.value):
        return Judged()
    reader = _Reader(row, printed.value, fallback, repeats)
    if printed.repeated:
        reader.fail_twice(printed.repeated)
    answer = reader.read()
    return Judged(answer, tuple(reader.problems), reader.failure)


def blocking(row: Event, reason: str | None, fallback: str) -> tuple[Answer, tuple[Problem, ...]]:
    """What a block means at an event, with the handler's own words or the engine's."""
    words = reason or fallback
    match row.block:
        case Block.DENY:
            return Answer(permission="deny", blocks=True, reason=reason, fallback=fallback), ()
        case Block.REFUSE | Block.CONTINUE:
            return Answer(blocks=True, reason=reason, fallback=fallback), ()
        case Block.FEEDBACK:
            return Answer(feedback=words), ()
        case Block.CONTEXT:
            found = "a finished subagent cannot be sent back; the reason is context for its parent."
            return Answer(context=(words,)), (Problem("answer-subagent-stop", found),)
        case Block.REPORT:
            found = f"{row.name} cannot be blocked, and the agent goes on. The handler said: {excerpt(words)}"
            return SILENT, (Problem("answer-cannot-block", found),)


def reason_in(reply: object) -> str | None:
    """Find the reason text inside an answer whose decision does not count (exit 2)."""
    if not isinstance(reply, Printed):
        return None
    top = reply.value
    inner = top.get("hookSpecificOutput")
    inner = inner if isinstance(inner, dict) else {}
    decision = inner.get("decision")
    texts = (
        inner.get("permissionDecisionReason"),
        decision.get("message") if isinstance(decision, dict) else None,
        top.get("reason"),
        top.get("stopReason"),
        top.get("systemMessage"),
    )
    return next((shown(text) for text in texts if isinstance(text, str) and text.strip()), None)


def shown(text: str) -> str:
    """Return a handler's text for a person: safe, trimmed and not too long."""
    return cut(safe(text[:100_000].strip()))


@dataclass(slots=True)
class _Reader:
    row: Event
    reply: Mapping[str, Any]
    fallback: str
    repeats: frozenset[str] = frozenset()
    problems: list[Problem] = field(default_factory=list)
    failure: Problem | None = None

    def read(self) -> Answer:
        inner = self._inner()
        self._note_unknown(self.reply, UNIVERSAL, "")
        self._note_unknown(inner, self._inner_keys(), "hookSpecificOutput.")
        stop = self._stop()  # first, for a stop that could not be read voids an allow
        permission, reason, interrupt, blocked = self._decision(inner)
        return Answer(
            permission=blocked.permission or permission,
            blocks=blocked.blocks or permission == "deny",
            reason=reason,
            fallback=self.fallback,
            context=(*self._context(inner), *blocked.context),
            feedback=blocked.feedback,
            notice=self._notice(),
            stop=stop,
            stop_reason=self._text(self.reply, "stopReason") if stop else None,
            interrupt=interrupt,
        )

    def fail_twice(self, keys: tuple[str, ...]) -> None:
        """Take an answer in which a key stands twice for half understood; of such a key the last counts."""
        shown_keys = ", ".join(excerpt(key, 40) for key in keys[:5])
        found = f"a key stands twice in the answer ({shown_keys}), so its decision cannot be relied on."
        self.failure = Problem("answer-decision", found, "Print each key once.")

    def _decision(self, inner: Mapping[str, Any]) -> tuple[Permission | None, str | None, bool, Answer]:
        top = self._text(self.reply, "reason")
        blocked = self._top_level(top)
        permission, reason, interrupt = self._vote(inner)
        old = self._old_spelling()
        permission = max(permission, old, key=lambda vote: _STRICTNESS[vote])
        permission = self._unless_void(permission, inner)
        if self.failure is not None and permission == "allow":
            permission = None  # an answer that was half understood is no permission
        return permission, reason or top, interrupt, blocked

    def _vote(self, inner: Mapping[str, Any]) -> tuple[Permission | None, str | None, bool]:
        if self.row.verdict is Verdict.TOOL:
            return *self._tool(inner), False
        return self._permission(inner) if self.row.verdict is Verdict.PERMISSION else (None, None, False)

    def _inner(self) -> Mapping[str, Any]:
        inner = self.reply.get("hookSpecificOutput")
        if inner is None:
            return {}
        if not isinstance(inner, dict):
            self._fail("hookSpecificOutput", inner, "It is an object.")
            return {}
        named = inner.get("hookEventName")
        if isinstance(named, str) and named != self.row.name:
            found = (
                f"`hookSpecificOutput` is for {excerpt(named)!r}, but this is {self.row.name}; it is ignored."
            )
            self._note("answer-event-other", found, f'Write "hookEventName": "{self.row.name}".')
            return {}
        if not isinstance(named, str):
            found = "`hookSpecificOutput` does not say which event it is for; it was taken as this one."
            self._note("answer-event-missing", found, f'Write "hookEventName": "{self.row.name}".')
        return inner

    def _inner_keys(self) -> tuple[str, ...]:
        keys: dict[Verdict, tuple[str, ...]] = {
            Verdict.TOOL: ("permissionDecision", "permissionDecisionReason"),
            Verdict.PERMISSION: ("decision",),
            Verdict.NONE: (),
        }
        context = ("additionalContext",) if self.row.context else ()
        return ("hookEventName", *context, *keys[self.row.verdict], *self.row.unapplied)

    def _top_level(self, reason: str | None) -> Answer:
        """Read ``decision`` where it is this event's own spelling, or an older one."""
        value = self.reply.get("decision")
        if value == "approve" and self.row.verdict is Verdict.NONE:
            found = f'"decision": "approve" changes nothing on {self.row.name}.'
            self._note("answer-old-spelling", found, "Leave it out.")
        if value is None or (value == "approve" and self.row.verdict is not Verdict.PERMISSION):
            return SILENT
        if value != "block":
            self._fail("decision", value, self._decision_advice())
            return SILENT
        answer, problems = blocking(self.row, reason, self.fallback)
        self.problems.extend(problems)
        return answer

    def _decision_advice(self) -> str:
        match self.row.verdict:
            case Verdict.TOOL:
                return 'Write "hookSpecificOutput": {"permissionDecision": "allow", "deny" or "ask"}.'
            case Verdict.PERMISSION:
                return 'Write "hookSpecificOutput": {"decision": {"behavior": "allow" or "deny"}}.'
            case Verdict.NONE:
                return 'It may be "block", in lower case, or be left out.'

    def _old_spelling(self) -> Permission | None:
        value = self.reply.get("decision")
        if self.row.verdict is not Verdict.TOOL or value not in ("approve", "block"):
            return None
        vote: Permission = "allow" if value == "approve" else "deny"
        found = f'"decision": "{value}" is the old spelling; it was read as "permissionDecision": "{vote}".'
        self._note("answer-old-spelling", found, "")
        return vote

    def _tool(self, inner: Mapping[str, Any]) -> tuple[Permission | None, str | None]:
        reason = self._text(inner, "permissionDecisionReason")
        match inner.get("permissionDecision"):
            case None:
                return None, reason
            case "allow" | "deny" | "ask" as vote:
                return vote, reason
            case "defer":
                found = '"permissionDecision": "defer" leaves the matter to the ordinary permission flow.'
                self._note("answer-unapplied", found, "")
            case other:
                self._fail("permissionDecision", other, 'It may be "allow", "deny" or "ask".')
        return None, None

    def _permission(self, inner: Mapping[str, Any]) -> tuple[Permission | None, str | None, bool]:
        decision = inner.get("decision")
        if decision is None:
            return None, None, False
        if not isinstance(decision, dict):
            self._fail(
                "hookSpecificOutput.decision", decision, 'It is an object: {"behavior": "allow" or "deny"}.'
            )
            return None, None, False
        self._note_unknown(
            decision,
            ("behavior", "message", "interrupt", *self.row.unapplied),
            "hookSpecificOutput.decision.",
        )
        message = self._text(decision, "message")
        match decision.get("behavior"):
            case "allow":
                return "allow", message, False
            case "deny":
                return "deny", message, self._flag(decision, "interrupt", default=False)
            case other:
                self._fail("behavior", other, 'It may be "allow" or "deny".')
                return None, None, False

    def _unless_void(self, permission: Permission | None, inner: Mapping[str, Any]) -> Permission | None:
        """Note the fields that are not applied; a permission for a changed input is none (section 8)."""
        decision = inner.get("decision")
        places = (inner, decision if isinstance(decision, dict) else {})
        present = [key for key in self.row.unapplied if any(place.get(key) is not None for place in places)]
        for key in present:
            value = next(place[key] for place in places if place.get(key) is not None)
            self._check_unapplied(key, value)
        if "updatedInput" in present and permission in {"allow", "ask"}:
            found = f"the {permission} was given for a changed input, which was not applied, so it does not count."
            self._note("answer-void", found, "")
            return None
        return permission

    def _check_unapplied(self, key: str, value: object) -> None:
        wanted = {"updatedInput": dict, "updatedPermissions": list}.get(key, object)
        if not isinstance(value, wanted):
            self._wrong(key, value, "an object" if wanted is dict else "a list")
        found = f"`{key}` is recognized, but not applied."
        self._note("answer-unapplied", found, "Deny with a reason that says what should be different.")

    def _stop(self) -> bool:
        value = self.reply.get("continue")
        if value is None or isinstance(value, bool):
            return value is False
        self._fail("continue", value, "It may be true or false.")
        return False

    def _notice(self) -> str | None:
        notice = self._text(self.reply, "systemMessage")
        return None if self._flag(self.reply, "suppressOutput", default=False) else notice

    def _context(self, inner: Mapping[str, Any]) -> tuple[str, ...]:
        value = inner.get("additionalContext")
        if value is None or not self.row.context:
            return ()
        if not isinstance(value, str):
            self._wrong("additionalContext", value, "a string")
            return ()
        # What goes to a model has to be encodable; a lone surrogate is not.
        return (cut(value.encode("utf-8", "replace").decode()),) if value.strip() else ()

    def _text(self, where: Mapping[str, Any], key: str) -> str | None:
        value = where.get(key)
        if value is None or isinstance(value, str):
            return (shown(value) or None) if value else None
        self._wrong(key, value, "a string")
        return None

    def _flag(self, where: Mapping[str, Any], key: str, *, default: bool) -> bool:
        value = where.get(key)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self._wrong(key, value, "true or false")
        return default

    def _note_unknown(self, where: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
        noted = 0
        for key in where:
            if key in known or (not prefix and key in self.repeats):
                continue
            if key in _DECIDING or (key == "decision" and prefix):
                self._fail(f"{prefix}{key}", where[key], f"{self._decision_advice()} It does not count here.")
            elif key == "additionalContext" and self.row.context:
                found = "`additionalContext` stands at the top level, where it is not read."
                self._note("answer-field", found, "Put it inside `hookSpecificOutput`.")
            elif (noted := noted + 1) <= UNKNOWN_SHOWN:
                hint = nearest(key[:60], known)
                found = f"`{prefix}{excerpt(key, 60)}` means nothing on {self.row.name}."
                self._note("answer-unknown", found, f"Did you mean `{hint}`?" if hint else "")

    def _note(self, code: str, found: str, advice: str) -> None:
        self.problems.append(Problem(code, found, advice))

    def _wrong(self, key: str, value: object, wanted: str) -> None:
        self._note("answer-field", f"`{key}` should be {wanted}, not {_glimpse(value)}; it is ignored.", "")

    def _fail(self, key: str, value: object, advice: str) -> None:
        found = f"the decision `{key}` has the value {_glimpse(value)}, which says nothing here, so it does not count."
        problem = Problem("answer-decision", found, advice)
        if self.failure is None:
            self.failure = problem
        else:
            self.problems.append(problem)


def _repeated_keys(reply: Mapping[str, Any], payload: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys with which an answer only says what the payload said (`tee`, `jq '. + …'`)."""
    same = {key: payload[key] for key in reply if key in payload}
    # As JSON, in which tuples are lists and all keys are strings.
    told = json.loads(json.dumps(same)) if same else {}
    return frozenset(key for key, value in told.items() if reply[key] == value)


def _glimpse(value: object) -> str:
    return excerpt(json.dumps(value, ensure_ascii=False), 40)
