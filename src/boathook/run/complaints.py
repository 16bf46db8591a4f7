"""What shells and interpreters say, on stderr, of what they could not carry out. Words in, names out."""

from __future__ import annotations

import re

# With exit 2, of a script that is not there: CPython, dash, perl, uv, awk, jq.
_NO_SCRIPT = re.compile(
    r"can't open file '(?P<python>[^'\n]+)'"
    r"|cannot open (?P<dash>[^\n:]+): No such file"
    r"|Can't open perl script \"(?P<perl>[^\"\n]+)\""
    r"|Failed to spawn: `(?P<uv>[^`\n]+)`"
    r"|can't open file (?P<awk>[^\n]+?)(?: for reading)?\n"
    r"|Could not open (?P<jq>[^\n:]+): No such file"
)
# dash and bash, of a command or of a script.
_SYNTAX = re.compile(r"[^\n:]+: (?:-c: )?(?:line )?\d+: [Ss]yntax error")
# dash ends with 2 when it fails itself. Of the command string anything counts, of a script only
# what nothing else says: a check may well report in the form `FILE: LINE: …`, too.
_SHELL_FAILED = re.compile(
    r"/bin/sh: (?:line )?\d+: (?!.*(?:not found|Permission denied)$).+"
    r"|[^\n:]+: \d+: (?:cd: can't cd to .+|cannot create .+|Bad substitution|set: Illegal option .+|\w+: parameter not set)"
)
# With exit 126 and 127, of a program: dash and bash, and what starts another program (env, timeout, nohup).
_UNSTARTED = re.compile(
    r"^(?:[^\n:]+: (?:line )?\d+: (?:exec: )?(?P<shell>[^\n:]+)"
    r"|[^\n:]+: (?:failed to run command )?[‘'`](?P<starter>[^\n’']+)[’'])"
    r": (?:command not found|not found|No such file or directory|Permission denied)$",
    re.MULTILINE,
)


def failed_itself(stderr: str) -> str | None:
    """Return the line with which a shell that ended with 2 says that it failed itself."""
    words = stderr.strip()
    first, _, more = words.partition("\n")
    if _SYNTAX.match(first) or (not more and _SHELL_FAILED.fullmatch(first)):
        return first
    return None


def missing_script(stderr: str) -> str | None:
    """Return the script that an interpreter that ended with 2 could not open.

    An interpreter says so first of all; further down it is a check that quotes someone else.
    """
    match = _NO_SCRIPT.search(stderr.lstrip().partition("\n")[0] + "\n")
    return next((name for name in match.groups() if name is not None), None) if match else None


def unstarted(stderr: str) -> str | None:
    """Return the program that a shell that ended with 126 or 127 could not start: the last one it speaks of."""
    found = [match["shell"] or match["starter"] for match in _UNSTARTED.finditer(stderr)]
    return found[-1] if found else None
