"""Hosts that make it hard: each in a process of its own, which then says what it saw."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from run_children import alive, host, read_pid, until

if TYPE_CHECKING:
    from pathlib import Path

START = """
import os, resource, signal, sys, threading, time
from boathook.run.process import Cancel, Command, run

def command(*argv, stdin=b"{}", timeout=20.0):
    return Command(argv, "/", dict(os.environ), stdin, timeout)

def wait_for(path):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if os.path.exists(path) and os.path.getsize(path):
            return
        time.sleep(0.002)

"""


def said(script: str) -> str:
    """Return what a host said; it must have gone well and without a warning."""
    done = host(START + script)
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout


@pytest.mark.parametrize("pidfd", [True, False])
def test_where_the_system_reaps_children_by_itself_the_status_is_lost_and_never_0(pidfd: bool) -> None:
    script = f"""
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for code in (0, 2):
    ended = run(command("/bin/sh", "-c", f"echo out; sleep 0.05; exit {{code}}"), pidfd={pidfd})
    print(ended.lost, ended.code, ended.signal, ended.start_error, ended.stdout)
"""
    assert said(script) == "True None None None b'out\\n'\n" * 2


def test_a_status_that_a_tracer_takes_first_is_waited_for() -> None:
    script = """
real, turns = os.waitid, [0]
def late(which, number, options):
    turns[0] += 1
    return None if turns[0] % 5 else real(which, number, options)
os.waitid = late
print([run(command("/bin/sh", "-c", f"exit {code}")).code for code in (0, 2)])
"""
    assert said(script) == "[0, 2]\n"


def test_a_child_reaped_before_anybody_looked_is_lost_and_never_0() -> None:
    script = """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
ends = [run(command("/bin/true")) for _ in range(50)]
print(all(ended.lost and ended.code is None for ended in ends))
"""
    assert said(script) == "True\n"


def test_a_deadline_works_where_the_system_reaps_children_by_itself() -> None:
    script = """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
ended = run(command("/bin/sh", "-c", "setsid sleep 77 & exec sleep 77", timeout=0.1))
print(ended.timed_out, ended.lost, ended.duration < 5)
"""
    assert said(script) == "True True True\n"


@pytest.mark.parametrize("pidfd", [True, False])
def test_a_host_that_reaps_every_child_it_sees_makes_a_status_lost_and_never_wrong(pidfd: bool) -> None:
    script = f"""
over = False
def reap_all():
    while not over:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            pass
threading.Thread(target=reap_all, daemon=True).start()
for _ in range(60):
    ended = run(command("/bin/sh", "-c", "exit 2"), pidfd={pidfd})
    assert ended.start_error is None
    assert ended.lost == (ended.code is None), ended
    assert ended.code in (None, 2)
over = True
print("done")
"""
    assert said(script) == "done\n"


def test_a_host_where_sigpipe_kills_survives_a_command_that_does_not_read() -> None:
    script = """
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
for stdin in (b"x", b"x" * 65537, b"x" * 8_000_000):
    print(run(command("/bin/sh", "-c", "exec 0<&-; sleep 0.05", stdin=stdin)).code)
    done = []
    thread = threading.Thread(target=lambda: done.append(run(command("/bin/true", stdin=stdin)).code))
    thread.start(); thread.join()
    print(done[0], signal.SIGPIPE in signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""
    assert said(script) == "0\n0 False\n" * 3


def test_a_host_out_of_descriptors_gets_an_error_of_the_start_and_loses_none() -> None:
    script = """
run(command("/bin/true"))
def count():
    return len(os.listdir("/proc/self/fd"))
before = count()
held = []
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
while True:
    try:
        held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        break
seen = set()
while held:
    ended = run(command("/bin/true"))
    seen.add(ended.start_error.errno if ended.start_error else ended.code)
    os.close(held.pop())
print(sorted(seen), count() == before)
"""
    assert said(script) == "[0, 24] True\n"


def test_a_host_whose_own_folder_is_gone_still_runs_commands(tmp_path: Path) -> None:
    script = f"""
gone = {str(tmp_path / "gone")!r}
os.mkdir(gone); os.chdir(gone); os.rmdir(gone)
print(run(command("/bin/pwd")).stdout)
"""
    assert said(script) == "b'/\\n'\n"


def test_a_host_without_standard_descriptors_gets_every_byte() -> None:
    script = """
import traceback
out = os.dup(1)
for fd in (0, 1, 2):
    os.close(fd)
ended = run(command("/bin/sh", "-c", "cat; echo no >&2; exit 2", stdin=b"abc"))
os.write(out, repr((ended.code, ended.stdout, ended.stderr)).encode())
os._exit(0)
"""
    assert said(script) == "(2, b'abc', b'no\\n')"


# --- the end of the host


def leaves_nothing(script: str, tmp_path: Path, how: str) -> subprocess.CompletedProcess[str]:
    note = tmp_path / "pid"
    done = host(START + script.format(note=str(note), how=how))
    assert not alive(read_pid(note))
    return done


@pytest.mark.parametrize("how", ["pass", "sys.exit(3)", "raise RuntimeError('bad')"])
def test_an_interpreter_that_exits_takes_what_is_in_flight_with_it(how: str, tmp_path: Path) -> None:
    script = """
order = command("/bin/sh", "-c", "echo $$ > {note}; exec setsid -w sleep 77", timeout=600)
threading.Thread(target=run, args=(order,), daemon=True).start()
wait_for("{note}")
{how}
"""
    done = leaves_nothing(script, tmp_path, how)
    assert done.returncode == {"p": 0, "s": 3, "r": 1}[how[0]]


def test_what_is_still_queued_when_the_interpreter_exits_never_starts(tmp_path: Path) -> None:
    script = """
from boathook.run.pool import Pool
pool = Pool(1)
order = command("/bin/sh", "-c", "echo $$ > {note}; exec sleep 77", timeout=600)
late = command("/bin/sh", "-c", "touch {note}.late; exec sleep 77", timeout=600)
for one in (order, late, late):
    pool.submit(lambda waited, one=one: run(one))
wait_for("{note}")
"""
    done = leaves_nothing(script, tmp_path, "")
    assert (done.stderr, done.returncode) == ("", 0)
    assert not (tmp_path / "pid.late").exists()


def test_a_fork_of_the_host_that_exits_leaves_the_hosts_children_alone() -> None:
    script = """
import warnings
warnings.simplefilter("ignore")
done, cancel = [], Cancel()
order = command("/bin/sh", "-c", "read line; echo $line; exec sleep 0.3", stdin=b"fine\\n")
thread = threading.Thread(target=lambda: done.append(run(order, cancel)))
thread.start()
time.sleep(0.1)
if os.fork() == 0:
    cancel.cancel()
    sys.exit(0)
os.wait()
thread.join()
print(done[0].stdout, done[0].cancelled)
"""
    assert said(script) == "b'fine\\n' False\n"


def test_a_fork_of_the_host_can_run_commands_of_its_own() -> None:
    script = """
import warnings
warnings.simplefilter("ignore")
from boathook.run.pool import Pool
pool = Pool(1)
busy = pool.submit(lambda waited: run(command("/bin/sleep", "0.3")))
time.sleep(0.05)
pid = os.fork()
if pid == 0:
    ended = pool.submit(lambda waited: run(command("/bin/sh", "-c", "exit 2"))).result(10)
    os._exit(ended.code)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), busy.result().code)
"""
    assert said(script) == "2 0\n"


@pytest.mark.parametrize("pause", [0.0, 0.0005, 0.002, 0.05])
def test_ctrl_c_in_the_thread_that_runs_a_command_ends_the_command(pause: float, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = f"{START}run(command('/bin/sh', '-c', 'echo $$ > {note}; exec sleep 77'))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stderr=subprocess.PIPE) as process:
        child = read_pid(note)
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in process.communicate(timeout=20)[1]
    until(lambda: not alive(child))


def test_ctrl_c_at_any_moment_of_a_start_leaves_nothing() -> None:
    script = """
def interrupt(number, frame):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
for turn in range(25):
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-5 + turn * 48e-6)
        run(command("/bin/sleep", "76"))
    except KeyboardInterrupt:
        pass
time.sleep(0.05)
left = []
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        words = open(f"/proc/{pid}/stat").read().split()
    except OSError:
        continue
    if words[3] == str(os.getpid()) and words[2] != "Z":
        left.append(words)
print(left)
"""
    done = host(START + script)
    assert done.stdout == "[]\n"
