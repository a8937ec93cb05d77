"""
One process tree for one run of code, forked ahead of time: a child of an `init` (see init.py) that drops its rights and
waits for a request. Everything written to stdout and stderr ends in one pipe, whose end says that nothing of the tree
is left.
"""

import contextlib
import errno
import os
import signal
import socket

from . import linux, memory, porter, wire
from .allow import hosts_file
from .guard import Guard
from .init import Init, children_of


class Process:
    """
    `init`: one that stands behind the same walls. With a `gate` doors can be opened in its network, which is then of no
    use to other runs.
    """

    def __init__(self, nursery, walls, init=None, has_gate=False):
        self.nursery = nursery
        self.isolated, self.fresh, self.hosts = walls.isolated, walls.fresh, None
        self.init, self.porter, gatehouse = init, None, None
        self._is_ready, self.failure = False, None
        try:
            self.control, theirs = socket.socketpair()
            self.output, output = os.pipe()
        except OSError:
            self._dismiss_init()
            raise
        self.reader = wire.Reader(self.control)
        self.guard, self.nameservers = None, []
        try:
            if has_gate:
                self.porter, gatehouse = porter.hire()
            self.init = init or Init(nursery, walls)
            self.init.fork([theirs.fileno(), output, *([gatehouse.fileno()] if gatehouse else [])])
        except OSError as error:
            failure = self.init.failure() if self.init else None  # it may have died before it took the files
            self._close()
            self._dismiss()
            raise failure or error from None
        finally:
            theirs.close()
            os.close(output)
            if gatehouse:
                gatehouse.close()
        os.set_blocking(self.output, False)

    def is_ready(self):
        """Waits until the process has its walls. False when it could not get them; `failure` says why."""
        if not self._is_ready and self.failure is None:
            message = self.reader.read()
            if message is None:
                self.failure = self.init.failure() or OSError(errno.EAGAIN, "a process of the harness has died")
            elif "failed" in message:
                self.failure = linux.as_error(message)
            elif len(self.reader.files) < message.get("files", 0):
                self.failure = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            else:
                self._is_ready, self.nameservers = True, message.get("nameservers", [])
                self.reader.take_no_more_files()
        return self._is_ready

    def let_out(self, user, near, note):
        """The guard of code that reaches other hosts through one."""
        if not self.reader.files:
            return None
        (listener, *questions), self.reader.files = self.reader.files, []
        questions = [socket.socket(fileno=fd) for fd in questions]
        self.guard = Guard(listener, questions, self.nameservers, user, near, note)
        return self.guard

    def open(self, doors):
        """Of one with a network of its own: waits until it is behind its walls with these doors in them."""
        self.hosts = hosts_file(doors)
        if not self.is_ready():
            return False
        if self.porter and not self.porter.open(doors):
            self.failure = self.init.failure() or OSError(errno.EAGAIN, "a process of the harness has died")
        return self.failure is None

    def begin(self, request, out):
        """`request`: an open file; `out`: the folder for what the code leaves. Raises OSError where nothing begins."""
        hosts = {} if self.hosts is None else {"hosts": self.hosts}
        wire.send(self.control, {"begin": True, **hosts}, [request, out])

    def last_words(self):
        """After it failed to get ready: what it wrote until its end."""
        self.kill()
        os.set_blocking(self.output, True)
        with open(self.output, encoding="utf-8", errors="replace", closefd=False) as output:
            words = output.read()
        self._close()
        self._dismiss()
        return words

    def is_alive(self):
        """To be asked of a process that has not begun; a dead one is buried on the way."""
        if self.init.is_busy():
            return True
        self._close()
        self._dismiss()
        return False

    def tell(self, message, files=()):
        """Waits for no room: code that asks and never reads would hold the daemon, and goes without an answer."""
        with contextlib.suppress(OSError):  # or it died meanwhile, and its end is about to be noticed
            wire.send(self.control, message, files, socket.MSG_DONTWAIT)

    def takes_too_much(self):
        """True when the code has more memory than a node may have."""
        return any(memory.is_beyond_limit(pid, self.fresh) for pid in children_of(self.init.pid)[:1])

    def kill(self):
        """All of it at once, init too; without a namespace, that one sees to it that none of its family survives."""
        self.init.signal(signal.SIGKILL if self.isolated else signal.SIGTERM)

    def end(self):
        """
        Kills everything once the code is done, which takes the system some milliseconds. True when nothing but the
        code's own process was left: that one is killed first, so that none of this code runs from here on.
        """
        code = self._kill_code() if self.isolated else []
        if code == []:
            self.kill()
            return False
        return not any(map(children_of, code)) and children_of(self.init.pid) in (code, [])

    def _kill_code(self):
        """Who is about to die can fork no more, the orphans of the dead are children of init, and that kills the rest."""
        code = children_of(self.init.pid)
        for pid in code:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return code

    def bury(self):
        """After the end of the output: returns how the code's process ended, None when it was killed from outside."""
        how = self.init.how_it_ended()
        self._close()
        if how is None or not self.isolated:
            self._dismiss_init()
            self.nursery.settle()  # only then nothing of it is left
        elif self.porter:
            self._dismiss_init()
        return how

    def _dismiss(self):
        self._dismiss_init()
        if self.porter:
            self.porter.bury()

    def _dismiss_init(self):
        init, self.init = self.init, None
        if init:
            init.dismiss()

    def _close(self):
        if self.guard:
            self.guard.close()
        for fd in self.reader.files:
            os.close(fd)
        os.close(self.output)
        self.control.close()
