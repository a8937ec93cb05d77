"""A process tree for one run of code, forked in advance: a child of an `init` (see init.py) that drops its rights and
waits for a request. Stdout and stderr share one pipe. The pipe ends when no process of the tree is left."""

import contextlib
import errno
import os
import signal
import socket

from . import linux, memory, relay, wire
from .allow import hosts_file
from .guard import Guard
from .init import Init, children_of


class Process:
    """`init` may be an existing init with the same isolation. With `has_relay`, the network of the process can get
    doors, which lead to allowed hosts. No other run can use that network afterwards."""

    def __init__(self, zygote, walls, init=None, has_relay=False):
        self.zygote = zygote
        self.isolated, self.fresh, self.hosts = walls.isolated, walls.fresh, None
        self.init, self.relay, doors_channel = init, None, None
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
            if has_relay:
                self.relay, doors_channel = relay.fork_relay()
            self.init = init or Init(zygote, walls)
            self.init.fork([theirs.fileno(), output, *([doors_channel.fileno()] if doors_channel else [])])
        except OSError as error:
            failure = self.init.failure() if self.init else None  # The init may have died before it received the files.
            self._close()
            self._dismiss()
            raise failure or error from None
        finally:
            theirs.close()
            os.close(output)
            if doors_channel:
                doors_channel.close()
        os.set_blocking(self.output, False)

    def is_ready(self):
        """Waits until the process is isolated. Returns false if the isolation failed; `failure` then holds the
        error."""
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

    def open_guard(self, user, near, note):
        """Creates the guard for code that reaches other hosts through it; None for other code."""
        if not self.reader.files:
            return None
        (listener, *questions), self.reader.files = self.reader.files, []
        questions = [socket.socket(fileno=fd) for fd in questions]
        self.guard = Guard(listener, questions, self.nameservers, user, near, note)
        return self.guard

    def open(self, doors):
        """Waits until a process with its own network is isolated and these doors to allowed hosts are open. False if
        that failed."""
        self.hosts = hosts_file(doors)
        if not self.is_ready():
            return False
        if self.relay and not self.relay.open(doors):
            self.failure = self.init.failure() or OSError(errno.EAGAIN, "a process of the harness has died")
        return self.failure is None

    def begin(self, request, out):
        """Starts the code. `request` is an open file, `out` a folder for results. Raises OSError if no code starts."""
        hosts = {} if self.hosts is None else {"hosts": self.hosts}
        wire.send(self.control, {"begin": True, **hosts}, [request, out])

    def kill_and_read_output(self):
        """Kills a process that failed to become ready, and returns its output."""
        self.kill()
        os.set_blocking(self.output, True)
        with open(self.output, encoding="utf-8", errors="replace", closefd=False) as output:
            words = output.read()
        self._close()
        self._dismiss()
        return words

    def is_alive(self):
        """Returns whether this process, which has not started code, is alive. Cleans up if it is dead."""
        if self.init.is_busy():
            return True
        self._close()
        self._dismiss()
        return False

    def tell(self, message, files=()):
        """Sends a message to the code's process without blocking. A blocking call would stop the daemon if the code
        never reads its socket. Such code gets no answer."""
        with contextlib.suppress(OSError):  # The code may have died.
            wire.send(self.control, message, files, socket.MSG_DONTWAIT)

    def takes_too_much(self):
        """True if the code uses more memory than a node may."""
        return any(memory.is_beyond_limit(pid, self.fresh) for pid in (children_of(self.init.pid) or ())[:1])

    def kill(self):
        """Kills the whole tree, including init. Without a namespace, init kills its descendants."""
        self.init.signal(signal.SIGKILL if self.isolated else signal.SIGTERM)

    def end(self):
        """Starts to kill all processes of finished code, the code's own process first. Does not wait for their end,
        which takes milliseconds. Returns true if the code's own process was the only one, so that no code runs from now
        on."""
        code = self._kill_code() if self.isolated else []
        if code == []:
            self.kill()
            return False
        return all(children_of(pid) == [] for pid in code) and children_of(self.init.pid) in (code, [])

    def _kill_code(self):
        """Kills the code's process. A dying process cannot fork, and init kills its orphans."""
        code = children_of(self.init.pid) or []
        for pid in code:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return code

    def clean_up(self):
        """Cleans up after the end of the output. Returns the status of the code; None if it was killed from outside."""
        how = self.init.how_it_ended()
        self._close()
        if how is None or not self.isolated:
            self._dismiss_init()
            self.zygote.settle()  # Waits until every process of the tree is gone.
        elif self.relay:
            self._dismiss_init()
        return how

    def _dismiss(self):
        self._dismiss_init()
        if self.relay:
            self.relay.kill()

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
