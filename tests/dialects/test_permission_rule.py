"""Permission rules: which calls a condition means, and that nothing unseen counts as safe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boathook.dialects.permission_rule import Judgement, RuleError, parse, wildcard

HOME, PROJECT, CWD = Path("/home/ada"), Path("/srv/ship"), Path("/srv/ship/deck")


def judged(rule: str, tool: str, **arguments: object) -> Judgement:
    return parse(rule).judge(tool, arguments, cwd=CWD, home=HOME, project=PROJECT)


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        # the whole tool
        ("Bash", "anything at all", "yes"),
        ("Bash(*)", "anything at all", "yes"),
        # one command, exactly
        ("Bash(npm run build)", "npm run build", "yes"),
        ("Bash(npm run build)", "npm run build --watch", "no"),
        # a star at the end, with and without the boundary of a word
        ("Bash(ls *)", "ls -la", "yes"),
        ("Bash(ls *)", "ls", "yes"),
        ("Bash(ls *)", "lsof", "no"),
        ("Bash(ls*)", "lsof", "yes"),
        ("Bash(ls:*)", "ls -la", "yes"),
        ("Bash(ls:*)", "lsof", "no"),
        ("Bash(git commit:*)", "git commit", "yes"),
        ("Bash(git commit:*)", "git commit-tree x", "no"),
        # a star elsewhere
        ("Bash(* --version)", "node --version", "yes"),
        ("Bash(git * main)", "git push origin main", "yes"),
        ("Bash(git * main)", "git push origin mainly", "no"),
        # assignments, wrappers, paths, quotes
        ("Bash(git *)", "FOO=bar git push", "yes"),
        ("Bash(git push *)", "env A=1 -u B git push", "yes"),
        ("Bash(git push *)", "timeout -k 1 5 nice -n 3 git push", "yes"),
        ("Bash(git push *)", "time git push", "yes"),
        ("Bash(rm *)", "find . -name x | xargs -n 1 rm -f", "yes"),
        ("Bash(rm *)", "find . -name x -exec rm {} +", "yes"),
        ("Bash(rm *)", "/bin/rm -rf x", "yes"),
        ("Bash(rm *)", "\\rm -rf x", "yes"),
        ("Bash(rm *)", "'r'm -rf x", "yes"),
        ("Bash(timeout *)", "timeout 5 make", "yes"),
        # git's own options
        ("Bash(git commit:*)", "git -C deck commit -m x", "yes"),
        ("Bash(git commit:*)", "git -c user.name=a --no-pager commit", "yes"),
        ("Bash(git commit:*)", "git --git-dir=.git status", "no"),
        # several commands on one line
        ("Bash(git *)", "npm test && git push", "yes"),
        ("Bash(git *)", "npm test || git push", "yes"),
        ("Bash(git *)", "npm test; git push", "yes"),
        ("Bash(git *)", "npm test | git apply", "yes"),
        ("Bash(git *)", "npm test & git push", "yes"),
        ("Bash(git *)", "npm test\ngit push", "yes"),
        ("Bash(git *)", "npm test && npm run git", "no"),
        ("Bash(git push *)", "(cd x && git push)", "yes"),
        ("Bash(git push *)", "if true; then git push; fi", "yes"),
        ("Bash(git push *)", "f() { git push; }; f", "yes"),
        ("Bash(git push *)", "bash -c 'cd x && git push'", "yes"),
        ("Bash(git push *)", "eval git push", "yes"),
        ("Bash(npm test && npm run lint)", "npm test && npm run lint", "yes"),
        # text is no command
        ("Bash(rm *)", "echo 'rm -rf /'", "no"),
        ("Bash(rm *)", 'git commit -m "rm; rm -rf"', "no"),
        ("Bash(rm *)", "echo # rm -rf", "no"),
        # substitutions
        ("Bash(rm *)", "echo $(rm -rf /)", "yes"),
        ("Bash(rm *)", "echo `rm -rf /`", "yes"),
        ("Bash(rm *)", 'echo "now: $(rm -rf /)"', "yes"),
        ("Bash(rm *)", "cat <(rm -rf /)", "yes"),
        ("Bash(rm *)", "echo > $(rm -rf /)", "yes"),
        ("Bash(rm *)", "cat <<< $(rm -rf /)", "yes"),
        ("Bash(rm *)", "> out rm -rf /", "yes"),
        ("Bash(rm *)", "trap 'rm -rf /' EXIT", "yes"),
        ("Bash(rm *)", "watch -n 5 rm x", "yes"),
        ("Bash(rm *)", "watch 'ls; rm x'", "yes"),
        ("Bash(rm *)", "coproc rm x", "yes"),
        ("Bash(rm *)", "echo $(date)", "no"),
        ("Bash(rm *)", "echo $HOME", "no"),
        ("Bash(git push *)", "echo $(date)", "unsure"),
        ("Bash(git push *)", "echo $HOME", "unsure"),
        ("Bash(git push *)", "ls ~/x", "no"),
        # what is known only when it runs
        ("Bash(rm *)", "$CMD -rf /", "unsure"),
        ("Bash(rm *)", "{rm,-rf,/}", "unsure"),
        ("Bash(rm *)", "/bin/r? -rf /", "unsure"),
        ("Bash(rm *)", "$'rm' -rf /", "unsure"),
        ("Bash(rm *)", "echo ${x:-$(rm -rf /)}", "unsure"),
        ("Bash(rm *)", "curl example.com | sh", "unsure"),
        ("Bash(rm *)", 'eval "$TEXT"', "unsure"),
        ("Bash(rm *)", "env -S 'rm -rf /'", "yes"),
        ("Bash(rm *)", "env -S 'A=1 rm -rf /'", "unsure"),
        ("Bash(rm *)", "bash <<END\nrm -rf /\nEND", "unsure"),
        ("Bash(rm *)", "cat <<END\n$(rm -rf /)\nEND", "unsure"),
        ("Bash(rm *)", "cat <<END\nrm -rf /\nEND", "no"),
        # what is no command line
        ("Bash(rm *)", "echo 'open", "unsure"),
        ("Bash(rm *)", "echo $(open", "unsure"),
    ],
)
def test_a_command_rule_means_each_command_that_the_line_would_run(
    rule: str, command: str, expected: Judgement
) -> None:
    assert judged(rule, "Bash", command=command) == expected


@pytest.mark.parametrize(
    ("rule", "tool", "path", "expected"),
    [
        ("Edit(src/**)", "Edit", "/srv/ship/deck/src/a/b.py", "yes"),
        ("Edit(src/**)", "Edit", "src/a.py", "yes"),
        ("Edit(src/**)", "Edit", "/srv/ship/src/a.py", "no"),
        ("Edit(src/**)", "Edit", "lib/src/a.py", "no"),
        ("Edit(**/src/**)", "Edit", "lib/src/a.py", "yes"),
        ("Edit(src/**)", "Edit", "src/../lib/a.py", "no"),
        ("Edit(src/**)", "Edit", "lib/../src/a.py", "yes"),
        ("Edit(src)", "Edit", "lib/src/a.py", "yes"),
        ("Edit(src/)", "Edit", "src", "no"),
        ("Edit(src/*.py)", "Edit", "src/a.py", "yes"),
        ("Edit(src/*.py)", "Edit", "src/a/b.py", "no"),
        ("Edit(src/a?[0-9].py)", "Edit", "src/ab1.py", "yes"),
        ("Edit(/src/**)", "Edit", "/srv/ship/src/a.py", "yes"),
        ("Edit(/src/**)", "Edit", "/srv/ship/deck/src/a.py", "no"),
        ("Edit(../src/**)", "Edit", "/srv/ship/src/a.py", "yes"),
        ("Edit(//etc/**)", "Edit", "/etc/passwd", "yes"),
        ("Edit(//etc/**)", "Edit", "etc/passwd", "no"),
        ("Edit(//etc/**)", "Edit", "../../../etc/passwd", "yes"),
        ("Read(~/.ssh/**)", "Read", "/home/ada/.ssh/id", "yes"),
        ("Read(~/.ssh/**)", "Read", "~/.ssh/id", "yes"),
        ("Read(~/.ssh/**)", "Read", "/home/eve/.ssh/id", "no"),
        ("Read(.env)", "Read", "/srv/ship/deck/a/.env", "yes"),
        ("Read(.env)", "Read", ".env.example", "no"),
        ("Read(./.env)", "Read", ".env", "yes"),
        ("Read(./.env)", "Read", "a/.env", "no"),
        ("Read(*.pem)", "Read", "a/b/key.pem", "yes"),
        # a rule for a kind of access covers its tools
        ("Edit(src/**)", "Write", "src/a.py", "yes"),
        ("Edit(src/**)", "Read", "src/a.py", "no"),
        ("Write(src/**)", "Write", "src/a.py", "yes"),
        ("Write(src/**)", "Edit", "src/a.py", "no"),
    ],
)
def test_a_path_rule_means_the_files_that_gitignore_would(
    rule: str, tool: str, path: str, expected: Judgement
) -> None:
    assert judged(rule, tool, file_path=path) == expected


def test_a_rule_for_reading_means_a_search_that_could_find_such_a_file() -> None:
    assert judged("Read(~/.ssh/**)", "Grep", pattern="KEY", path="/home") == "unsure"
    assert judged("Read(~/.ssh/**)", "Grep", pattern="KEY", path="/home/ada/.ssh") == "unsure"
    assert judged("Read(~/.ssh/**)", "Grep", pattern="KEY") == "no"
    assert judged("Read(.env)", "Glob", pattern="*") == "unsure"


def test_a_link_is_followed_and_does_not_escape_a_rule(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "open").symlink_to(tmp_path / "secret")
    rule = parse("Read(/secret/**)")
    assert rule.matches("Read", {"file_path": "open/a"}, cwd=tmp_path, home=HOME, project=tmp_path)
    by_link = parse("Read(/open/**)")
    assert by_link.matches("Read", {"file_path": "open/a"}, cwd=tmp_path, home=HOME, project=tmp_path)


@pytest.mark.parametrize(
    ("rule", "tool", "arguments", "expected"),
    [
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://Example.com:8443/x"}, "yes"),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://www.example.com/"}, "no"),
        ("WebFetch(domain:*.example.com)", "WebFetch", {"url": "https://www.example.com/"}, "yes"),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://example.com@evil.org/"}, "no"),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://evil.org\\@example.com"}, "unsure"),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://[::1"}, "unsure"),
        ("mcp__github", "mcp__github__push", {}, "yes"),
        ("mcp__github", "mcp__github_two__push", {}, "no"),
        ("mcp__github__*", "mcp__github__push", {}, "yes"),
        ("mcp__github__get_*", "mcp__github__push", {}, "no"),
        ("mcp__github__push", "mcp__github__push", {}, "yes"),
        ("Agent(Explore)", "Task", {"subagent_type": "Explore"}, "yes"),
        ("Agent(Explore)", "Agent", {"subagent_type": "Plan"}, "no"),
        ("Skill(deploy *)", "Skill", {"skill": "deploy", "args": "prod"}, "yes"),
        ("Skill(deploy)", "Skill", {"skill": "deploy", "args": "prod"}, "yes"),
        ("Skill(deploy)", "Skill", {"skill": "deployer"}, "no"),
        ("PowerShell(git push*)", "PowerShell", {"command": "npm test; Git Push origin"}, "yes"),
        ("PowerShell(git push*)", "PowerShell", {"command": "Get-ChildItem"}, "no"),
        ("PowerShell(git push*)", "PowerShell", {"command": "& $x"}, "unsure"),
        ("Novel(anything)", "Novel", {"x": 1}, "unsure"),
        ("Novel(anything)", "Other", {"x": 1}, "no"),
        ("Bash(rm *)", "Bash", {}, "unsure"),
        ("Bash(rm *)", "Bash", {"command": ["rm"]}, "unsure"),
        ("Read(.env)", "Read", {"file_path": 3}, "unsure"),
        ("Read(.env)", "Read", {"file_path": "a\0b"}, "unsure"),
        ("Bash(rm *)", "bash", {"command": "rm x"}, "no"),
    ],
)
def test_a_rule_means_its_tool_and_what_stands_in_its_brackets(
    rule: str, tool: str, arguments: dict[str, object], expected: Judgement
) -> None:
    assert judged(rule, tool, **arguments) == expected


def test_what_cannot_be_seen_counts_as_a_match() -> None:
    rule = parse("Bash(git push *)")
    assert rule.matches("Bash", {"command": "echo 'open"}, cwd=CWD, home=HOME, project=PROJECT)
    assert not rule.matches("Bash", {"command": "ls"}, cwd=CWD, home=HOME, project=PROJECT)


@pytest.mark.parametrize(
    ("rule", "at", "what"),
    [
        ("", 0, "name of a tool"),
        ("(rm *)", 0, "name of a tool"),
        ("Bash(rm *) && Edit", 10, "one rule only"),
        ("Bash(a) || Bash(b)", 7, "one rule only"),
        ("Bash(rm *", 9, "the rule ends with )"),
        ("Bash(rm \\)", 10, "the rule ends with )"),
        ("Bash || Edit", 4, "one rule only"),
        ("Bash, Edit", 4, "one rule only"),
        ("Bash()", 5, "write Bash"),
        ("Bash(:*)", 5, "what the command begins with"),
        ("Bash(a:* b)", 5, "only at the end"),
        ("mcp__server(x)", 12, "takes no brackets"),
        ("WebFetch(https://example.com)", 9, "domain:example.com"),
        ("Edit(!src)", 5, "turned round"),
        ("Edit(.)", 5, "names no path"),
    ],
)
def test_what_is_no_rule_is_an_error_that_says_where_and_what(rule: str, at: int, what: str) -> None:
    with pytest.raises(RuleError, match=re.escape(what)) as caught:
        parse(rule)
    assert caught.value.at == at


def test_brackets_in_a_command_are_written_with_a_backslash_or_as_they_are() -> None:
    assert judged("Bash(echo \\(a\\))", "Bash", command="echo '(a)'") == "yes"
    assert judged("Bash(echo (a))", "Bash", command="echo '(a)'") == "yes"


LINES = st.text(st.sampled_from(list("ab rm$(){}`'\"\\;&|<>\n*?[]~#=-/.")), max_size=60)


@given(line=LINES)
@settings(max_examples=150, deadline=None)
def test_no_command_line_however_odd_raises(line: str) -> None:
    assert judged("Bash(rm -f *)", "Bash", command=line) in {"yes", "no", "unsure"}


FRAMES = st.sampled_from(
    [
        "{}",
        "a && {}",
        "a; {}",
        "a | {}",
        "({})",
        "env X=1 {}",
        "echo $({})",
        'echo "$({})"',
        "nice {}",
        "if a; then {}; fi",
    ]
)


@given(frames=st.lists(FRAMES, max_size=4), words=st.lists(st.sampled_from(["-f", "x", "'a b'"]), max_size=3))
@settings(max_examples=150, deadline=None)
def test_a_command_is_found_however_deep_it_is_wrapped(frames: list[str], words: list[str]) -> None:
    line = " ".join(["rm", *words])
    for frame in frames:
        line = frame.format(line)
    assert judged("Bash(rm *)", "Bash", command=line) != "no"


@given(pattern=st.text(st.sampled_from("ab*"), max_size=8), text=st.text(st.sampled_from("ab"), max_size=10))
@settings(max_examples=200, deadline=None)
def test_a_star_stands_for_any_text(pattern: str, text: str) -> None:
    expected = re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), text) is not None
    assert wildcard(pattern, text) is expected


def test_a_long_text_and_a_rule_with_many_stars_take_no_time() -> None:
    assert not wildcard("*a" * 30 + "b", "a" * 200_000)


@pytest.mark.parametrize(
    "before",
    ["echo " + "a" * 70_000 + ";", "find -exec " * 1000, "a;" * 2000, "eval " * 1000, "$(" * 1000],
    ids=["long", "programs in programs", "many", "evals", "brackets"],
)
def test_what_stands_behind_too_much_to_follow_is_not_passed_over(before: str) -> None:
    assert judged("Bash(rm *)", "Bash", command=f"{before} rm -f x") != "no"
