"""
The first process of a pid namespace. It forks a process for each run of code, one after the other, and sees to it that
nothing of one is alive when the next one comes: what it kills last is everything there is but itself.
"""

import contextlib
import os
import select
import signal
import socket
import time
import traceback

from . import jail, linux, netns, porter, ways_out, wire

_DYING_SECONDS = 0.002


class Init:
    """The daemon's end. Of walls without a namespace it serves one run, and ends with it."""

    def __init__(self, nursery, walls):
        self.nursery = nursery
        self.gate, theirs = socket.socketpair()
        try:
            self.pid = nursery.fork(walls, theirs.fileno())
        except OSError:
            self.gate.close()
            raise
        finally:
            theirs.close()
        self.reader = wire.Reader(self.gate, takes_files=False)

    def fork(self, files):
        """`files`: the control socket of the new process, what it writes to, and perhaps a gatehouse (see porter.py)."""
        wire.send(self.gate, {"fork": True}, files)

    def failure(self):
        """The error that it has ended with. None while it lives, or if it has died without a word."""
        with contextlib.suppress(OSError):
            message = None if self.is_busy() else self.reader.read()
            return linux.as_error(message) if message and "failed" in message else None

    def is_busy(self):
        """False when the process that was forked last has ended, or this one has."""
        return not select.select([self.gate], [], [], 0)[0]

    def how_it_ended(self):
        """Waits until nothing of the last run is left. None when this process has died with it."""
        with contextlib.suppress(OSError):
            message = self.reader.read()
            return message and message.get("over")

    def signal(self, number):
        self.nursery.signal(self.pid, number)

    def dismiss(self):
        """Whatever is in the namespace dies with it."""
        self.nursery.end(self.pid)
        self.gate.close()


def become_init(walls, run, gate):
    """Never returns."""
    code = 70
    try:
        jail.die_with_parent()
        os.setpgid(0, 0)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        jail.close_all_but(gate.fileno())
        jail.adopt_orphans()
        if walls.has_own_network:
            netns.raise_loopback()
        reader = wire.Reader(gate)
        if walls.isolated:
            ways_out.filter_of(walls.asks)  # for the children to find
        while reader.read() is not None:
            _serve_run(walls, run, gate, *reader.files)
            reader.files = []
            if not walls.isolated:
                break
        code = 0
    except OSError as error:
        os.write(2, traceback.format_exc().encode())
        wire.send(gate, linux.as_message(error))
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _serve_run(walls, run, gate, control, output, gatehouse=None):
    """What the run's processes write to stays open in here until none of them is left: its end says so."""
    os.set_blocking(output, True)
    _write_to(output)
    child = os.fork()
    if child == 0:
        gate.close()
        if gatehouse is not None:
            os.close(gatehouse)
        _become_runner(walls, run, socket.socket(fileno=control))
    os.close(control)
    if gatehouse is None:
        _outlive(child, gate, walls.isolated)
    else:
        channel = socket.socket(fileno=gatehouse)
        porter.keep_gate(channel)  # if this fails, the channel stays open until it is written why: its end ends all
        _outlive(child, gate, walls.isolated)
        channel.close()
    _write_to(os.open(os.devnull, os.O_WRONLY))


def _become_runner(walls, run, control):
    """Never returns. An error that is caught here is one before the code has begun."""
    try:
        walls.enter()
        run.serve(control, walls)
    except OSError as error:
        os.write(2, traceback.format_exc().encode())
        wire.send(control, linux.as_message(error))
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(70)


def _write_to(fd):
    for number in (1, 2):
        os.dup2(fd, number)
    os.close(fd)


def _outlive(child, gate, isolated):
    """Buries orphans until the code's process ends, and then kills whatever it has left behind."""
    if not isolated:
        signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    while True:
        pid, how = os.wait()
        if pid == child:
            break
    if isolated:
        _kill_all_others()
    wire.send(gate, {"over": how})
    if not isolated:
        _kill_family(child)


def _kill_all_others():
    """In the first process of a pid namespace: who is killed can fork no more, so nobody gets away."""
    if os.getpid() != 1:
        raise RuntimeError("not in a pid namespace")
    with contextlib.suppress(ChildProcessError):
        while True:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            os.wait()


def _kill_family(group):
    """Orphans come to this process where the system lets it adopt; elsewhere only their process group is known."""
    while _bury_the_dead():
        with contextlib.suppress(ProcessLookupError, PermissionError):  # empty, or nobody left to kill
            os.killpg(group, signal.SIGKILL)
        for child in children_of("self"):
            os.kill(child, signal.SIGKILL)
        time.sleep(_DYING_SECONDS)


def _bury_the_dead():
    """False when no child is left, dead or alive."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            continue
    except ChildProcessError:
        return False
    return True


def children_of(pid):
    """Those that are not buried; none where it is not there any more, or the system does not say."""
    try:
        with open(f"/proc/{pid}/task/{os.getpid() if pid == 'self' else pid}/children") as children:
            return [int(child) for child in children.read().split()]
    except OSError:
        return []
