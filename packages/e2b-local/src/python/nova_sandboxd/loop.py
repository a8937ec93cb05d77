"""A small event loop. It has only one thread, so that the process can be forked at any moment."""

import heapq
import itertools
import os
import selectors
import signal
import socket
import time


class Timer:
    def __init__(self, callback):
        self.callback = callback

    def cancel(self):
        self.callback = None


class Loop:
    def __init__(self):
        self._selector = selectors.PollSelector()  # The system limits epoll for all processes of a user.
        self._timers = []
        self._order = itertools.count()
        self._soon = []

    def watch(self, fd, on_readable=None, on_writable=None):
        """Calls these callbacks from now on when the descriptor is readable or writable. Without callbacks, it is no
        longer watched."""
        events = (selectors.EVENT_READ if on_readable else 0) | (selectors.EVENT_WRITE if on_writable else 0)
        known = fd in self._selector.get_map()
        if not events:
            if known:
                self._selector.unregister(fd)
        elif known:
            self._selector.modify(fd, events, (on_readable, on_writable))
        else:
            self._selector.register(fd, events, (on_readable, on_writable))

    def later(self, seconds, callback):
        timer = Timer(callback)
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), timer))
        return timer

    def soon(self, callback):
        """Runs the callback before the loop next waits for events. So one callback can do the work for many small
        changes."""
        self._soon.append(callback)

    def on_child_exit(self, callback):
        """Calls `callback(pid, wait status)` for every child process that ends."""
        receive, send = socket.socketpair()
        receive.setblocking(False)
        send.setblocking(False)
        signal.set_wakeup_fd(send.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._wakeup = (receive, send)

        def reap():
            try:
                receive.recv(4096)
            except BlockingIOError:
                pass
            for pid, status in ended_children():
                callback(pid, status)

        self.watch(receive.fileno(), reap)

    def run(self):
        while True:
            wait = self._run_timers()
            if self._soon:
                due, self._soon = self._soon, []
                for callback in due:
                    callback()
                continue
            for key, events in self._selector.select(wait):
                on_readable, on_writable = key.data
                if events & selectors.EVENT_READ and on_readable and self._is_current(key):
                    on_readable()
                if events & selectors.EVENT_WRITE and on_writable and self._is_current(key):
                    on_writable()

    def _is_current(self, key):
        """Returns whether the descriptor of an event is still watched. Several events can arrive at once, and the
        callback of an earlier event may have closed or replaced this descriptor."""
        return self._selector.get_map().get(key.fd) is key

    def _run_timers(self):
        """Runs due timers; returns the seconds until the next one."""
        while self._timers:
            due, _, timer = self._timers[0]
            wait = due - time.monotonic()
            if timer.callback and wait > 0:
                return wait
            heapq.heappop(self._timers)
            if timer.callback:
                timer.callback()
        return None


def read_line(read):
    """Reads one line. `read` returns the next bytes, or no bytes if the other side has closed."""
    line = b""
    while not line.endswith(b"\n"):
        part = read()
        if not part:
            raise ConnectionError("the connection ended in front of the end of a line")
        line += part
    return line


def ended_children():
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status


def forget_parent(keep):
    """In a fresh fork: undoes the parent's signal handling and closes all of its descriptors except `keep`."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    first = 3
    for fd in sorted(keep):
        if fd >= first:
            os.closerange(first, fd)
            first = fd + 1
    os.closerange(first, max_open_descriptor() + 1)


def max_open_descriptor():
    try:
        return max(map(int, os.listdir("/dev/fd")))
    except OSError:
        return 4096
