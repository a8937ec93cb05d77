"""Contexts, which keep the variables of a client's cells. Each has one kernel (a Python process) and one queue of
cells. The output of a cell is forwarded while it runs."""

import codecs
import collections
import datetime
import json
import os

_KEEPALIVE = 5  # Seconds. The code interpreter of E2B calls this value KEEPALIVE_INTERVAL.
_PIPE = 1 << 16
_EARLY = 1 << 12  # Characters of output before the first cell that are kept.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 5.0  # Seconds before another kernel starts after one that could not run a cell.
_RESTARTED = ("ContextRestarting", "Context was restarted")
_UNABLE = (
    "ContextRestarting",
    "The context's Python process ended before it could run a cell, and stderr says why if it knows - repair the"
    " preloaded modules, or give sandboxes more memory, and create another sandbox",
)
_FORGED = ("UnexpectedEndOfExecution", "The kernel sent no valid result - leave descriptors alone that you did not open")
_CLOSED = (
    "UnexpectedEndOfExecution",
    "Connection to the execution was closed before the execution was finished",
)


def encode(line):
    return json.dumps(line).encode() + b"\n"


def error_line(name_and_value):
    name, value = name_and_value
    return encode({"type": "error", "name": name, "value": value, "traceback": ""})


_END = encode({"type": "end_of_execution"})


def _checked(payload):
    """Returns a tuple with the last line of a cell, or an empty tuple. Replaces forged lines by an error. The code of a
    cell can forge what the kernel sends, for example the end of this cell and the output of the next one."""
    if not payload:
        return ()
    is_line = payload.endswith(b"\n") and payload.count(b"\n") == 1 and payload != _END
    return (payload if is_line else error_line(_FORGED),)


class Execution:
    def __init__(self, connection, code):
        self.connection, self.code = connection, code
        self.begun = self.abandoned = False

    def emit(self, data):
        if not self.abandoned:
            self.connection.send(data)

    @property
    def congested(self):
        return not self.abandoned and self.connection.congested

    def finish(self, *last_lines):
        for line in last_lines:
            self.emit(line)
        self.emit(_END)
        self.connection.on_end = self.connection.on_drained = None
        self.connection.finish()


class Context:
    """`kernels` provides the kernel processes."""

    def __init__(self, loop, kernels):
        self.loop, self.kernels, self.id = loop, kernels, os.urandom(16).hex()
        self.queue, self.current, self.keepalive = collections.deque(), None, None
        self.pause, self.next_pause = None, _FIRST_PAUSE
        self._adopt()

    def describe(self):
        return {"id": self.id, "language": "python", "cwd": "/home/user"}

    def execute(self, connection, code):
        execution = Execution(connection, code)
        connection.on_end = lambda: self._abandon(execution)
        connection.on_drained = self._watch_output
        connection.send_json({"ok": True})
        self.queue.append(execution)
        self._next()

    def close(self):
        """Ends the kernel and the processes that its cells have started and not detached."""
        if self.process:
            self.process.end(self.loop)
        if self.pause:
            self.pause.cancel()
        self._break_off(_CLOSED)
        for waiting in self.queue:
            waiting.finish(error_line(_CLOSED))

    def is_of(self, pid):
        """Returns whether this process is the context's kernel."""
        return self.process is not None and self.process.pid == pid

    def kernel_died(self):
        """Reports an error to the cell, as Jupyter does when a kernel dies, and starts a new kernel. If the dead kernel
        could not run a cell, the new kernel will probably die, too. So it starts only after a pause, and only for the
        next cell."""
        while self.process.receive():
            self._take_frames()
        self._drain()
        if self.current and not self.is_able:
            self._emit_text("stderr", self.early)
        self.process.close(self.loop)
        self.process = None
        self._break_off(_RESTARTED if self.is_able else _UNABLE)
        if self.is_able:
            self.next_pause = _FIRST_PAUSE
            self._adopt()
        else:
            self.pause = self.loop.later(self.next_pause, self._end_pause)
            self.next_pause = min(2 * self.next_pause, _LONGEST_PAUSE)
        self._next()

    def _end_pause(self):
        self.pause = None
        self._next()

    def _adopt(self):
        self.process, self.count, self.is_able, self.early = self.kernels.take(), 0, False, ""
        self.decoders = {fd: codecs.getincrementaldecoder("utf-8")("replace") for fd, _ in self.process.outputs}
        self._watch_output()

    def _watch_output(self):
        """Watches the output of the kernel, except while the client reads too slowly. Then the pipes fill, and the cell
        has to wait when it writes."""
        if self.process is None:
            return
        stopped = self.current is not None and self.current.congested
        self.loop.watch(self.process.control.fileno(), None if stopped else self._read_frames)
        for fd, kind in self.process.outputs:
            self.loop.watch(fd, None if stopped else lambda fd=fd, kind=kind: self._read_output(fd, kind))

    def _read_output(self, fd, kind):
        """Reads output of the kernel and returns the number of bytes. Output between two cells belongs to no cell and
        is dropped. Output before the first cell is kept, because it says why a kernel dies at its start."""
        try:
            data = os.read(fd, _PIPE)
        except BlockingIOError:
            return 0
        if not data:
            self.loop.watch(fd)
        elif self.current:
            self._emit_text(kind, self.decoders[fd].decode(data))
            if self.current.congested:
                self._watch_output()
        elif not self.is_able:
            self.early = (self.early + self.decoders[fd].decode(data))[-_EARLY:]
        return len(data)

    def _drain(self):
        """Reads the rest of a cell's output from the pipes. It reads at most as much as a pipe holds, because a
        detached child may write for ever."""
        for fd, kind in self.process.outputs:
            taken = 0
            while taken < _PIPE and (size := self._read_output(fd, kind)):
                taken += size
            if self.current:
                self._emit_text(kind, self.decoders[fd].decode(b"", final=True))

    def _read_frames(self):
        if self.process.receive() is None:
            self.loop.watch(self.process.control.fileno())  # The callback for the end of the process explains the end.
        self._take_frames()

    def _take_frames(self):
        while self.current and (frame := self.process.take_frame()):
            kind, payload = frame
            if kind == b"B":
                self._mark_begun()
                continue
            self._drain()
            self._end_current(*_checked(payload))
            self._watch_output()
            self._next()

    def _mark_begun(self):
        self.current.begun = self.is_able = True
        if self.current.abandoned:
            self.process.interrupt()

    def _emit_text(self, kind, text):
        if text:
            now = datetime.datetime.now(datetime.timezone.utc).isoformat()
            self.current.emit(encode({"type": kind, "text": text, "timestamp": now}))

    def _next(self):
        if self.current or self.pause or not self.queue:
            return
        if self.process is None:
            self._adopt()
        self.current = self.queue.popleft()
        self.count += 1
        self.kernels.on_busy()
        self.current.emit(encode({"type": "number_of_executions", "execution_count": self.count}))
        self.keepalive = self.loop.later(_KEEPALIVE, self._keep_alive)
        self.process.tell(b"E", self.current.code)

    def _break_off(self, reason):
        if self.current:
            self._end_current(error_line(reason))

    def _end_current(self, *last_lines):
        execution, self.current = self.current, None
        self.keepalive.cancel()
        execution.finish(*last_lines)

    def _abandon(self, execution):
        """Called when the client of a cell has left. Interrupts the cell as Ctrl-C would, or removes it from the queue,
        so that the next cell does not wait for it."""
        execution.abandoned = True
        if execution is self.current:
            if execution.begun:  # Before the start of this cell, the signal would interrupt the previous cell.
                self.process.interrupt()
            self._watch_output()
        else:
            self.queue.remove(execution)
            execution.connection.close()

    def _keep_alive(self):
        """Writes a line without content to the client, because only a write shows that the connection is broken."""
        if not self.current.connection.waiting:
            self.current.emit(encode({"type": "keepalive"}))
        self.keepalive = self.loop.later(_KEEPALIVE, self._keep_alive)
