"""
One process tree for one run of code, forked ahead of time: `init`, the first process of its pid namespace, and its
child, which drops its rights and waits for a request. Everything written to stdout and stderr ends in one pipe, whose
end says that nothing of the tree is left.
"""

import contextlib
import os
import signal
import socket
import struct
import time
import traceback

from . import jail, porter, runner, wire

_STATUS = struct.Struct("=i")
_DYING_SECONDS = 0.002


class Process:
    def __init__(self, walls):
        self.control, theirs = socket.socketpair()
        self.output, output = os.pipe()
        self._status, status = os.pipe()
        self.isolated = walls.isolated
        self.porter, gatehouse = porter.hire() if walls.has_own_network else (None, None)
        try:
            self.pid = walls.fork()
            if self.pid == 0:
                _become_init(walls, theirs, output, status, gatehouse)
        except OSError:
            self._close()
            if self.porter:
                self.porter.bury()
            raise
        finally:
            theirs.close()
            os.close(output)
            os.close(status)
            if gatehouse:
                gatehouse.close()
        os.set_blocking(self.output, False)
        self.reader = wire.Reader(self.control, takes_files=False)

    def is_ready(self):
        """Waits until the process is behind its walls; False when it could not get there."""
        return self.reader.read() is not None

    def open(self, doors):
        """Of one with a network of its own: waits until it is behind its walls with these doors in them."""
        return self.is_ready() and self.porter.open(doors)

    def last_words(self):
        """After it failed to get ready: what it wrote until its end."""
        self.kill()
        os.set_blocking(self.output, True)
        with open(self.output, encoding="utf-8", errors="replace", closefd=False) as output:
            words = output.read()
        self.bury()
        if self.porter:
            self.porter.bury()
        return words

    def is_alive(self):
        """To be asked of a process that has not begun; a dead one is buried on the way."""
        if os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            return True
        self._close()
        if self.porter:
            self.porter.bury()
        return False

    def tell(self, message, files=()):
        with contextlib.suppress(OSError):  # it died meanwhile, and its end is about to be noticed
            wire.send(self.control, message, files)

    def kill(self):
        """Without a namespace, init itself sees to it that none of its family survives."""
        os.kill(self.pid, signal.SIGKILL if self.isolated else signal.SIGTERM)

    def end(self):
        """
        Kills everything once the code is done, which takes the system some milliseconds. True when nothing but the
        code's own process was left: that one is killed first, so that none of this code runs from here on.
        """
        is_over = self.isolated and self._kill_code_alone()
        self.kill()
        return is_over

    def _kill_code_alone(self):
        """Who is about to die can fork no more, and the orphans of the dead are children of init."""
        code = _children_of(self.pid)
        for pid in code:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return code != [] and not any(map(_children_of, code)) and _children_of(self.pid) in (code, [])

    def bury(self):
        """After the end of the output: returns how the code's process ended, None when it was killed from outside."""
        os.waitpid(self.pid, 0)
        data = os.read(self._status, _STATUS.size)
        self._close()
        return _STATUS.unpack(data)[0] if data else None

    def _close(self):
        os.close(self._status)
        os.close(self.output)
        self.control.close()


def _become_init(walls, control, output, status, gatehouse):
    """Never returns."""
    code = 70
    try:
        jail.die_with_parent()
        os.setpgid(0, 0)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.set_blocking(output, True)
        for fd in (1, 2):
            os.dup2(output, fd)
        jail.close_all_but(control.fileno(), status, gatehouse.fileno() if gatehouse else None)
        walls.enter()
        jail.adopt_orphans()
        child = os.fork()
        if child == 0:
            os.close(status)
            if gatehouse:
                gatehouse.close()
            runner.serve(control, walls.settle(), walls.lib)
        control.close()
        if gatehouse:
            porter.keep_gate(gatehouse, walls.hosts)
        _outlive(child, status, walls.isolated)
        code = 0
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _outlive(child, status, isolated):
    """Buries orphans until the code's process ends. The end of a pid namespace's first process ends all the others."""
    if not isolated:
        signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    while True:
        pid, how = os.wait()
        if pid == child:
            break
    os.write(status, _STATUS.pack(how))
    if not isolated:
        _kill_family(child)


def _kill_family(group):
    """Orphans come to this process where the system lets it adopt; elsewhere only their process group is known."""
    while _bury_the_dead():
        with contextlib.suppress(ProcessLookupError, PermissionError):  # empty, or nobody left to kill
            os.killpg(group, signal.SIGKILL)
        for child in _children_of("self"):
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


def _children_of(pid):
    """Those that are not buried; none where it is not there any more, or the system does not say."""
    try:
        with open(f"/proc/{pid}/task/{os.getpid() if pid == 'self' else pid}/children") as children:
            return [int(child) for child in children.read().split()]
    except OSError:
        return []
