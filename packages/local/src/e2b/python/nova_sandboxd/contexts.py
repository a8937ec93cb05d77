"""Contexts: one kernel and one queue of cells each, output forwarded while the cell runs."""

import codecs
import collections
import datetime
import json
import os
import time

_KEEPALIVE = 5  # seconds of silence; the code interpreter's KEEPALIVE_INTERVAL
_PIPE = 1 << 16
_RESTARTED = ("ContextRestarting", "Context was restarted")
_CLOSED = (
    "UnexpectedEndOfExecution",
    "Connection to the execution was closed before the execution was finished",
)


def encode(line):
    return json.dumps(line).encode() + b"\n"


def error_line(name_and_value):
    name, value = name_and_value
    return encode({"type": "error", "name": name, "value": value, "traceback": ""})


class Execution:
    def __init__(self, connection, code, environment):
        self.connection, self.code, self.environment = connection, code, environment
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
        self.emit(encode({"type": "end_of_execution"}))
        self.connection.on_end = self.connection.on_drained = None
        self.connection.finish()


class Context:
    """`kernels` makes and ends the processes; `on_busy` is called when a cell begins."""

    def __init__(self, loop, kernels, cwd, on_busy):
        self.loop, self.kernels, self.on_busy = loop, kernels, on_busy
        self.id, self.cwd = os.urandom(16).hex(), cwd
        self.queue, self.current, self.keepalive = collections.deque(), None, None
        self._adopt(kernels.take(cwd))

    def describe(self):
        return {"id": self.id, "language": "python", "cwd": self.cwd}

    def execute(self, connection, code, environment):
        execution = Execution(connection, code, environment)
        connection.on_end = lambda: self._abandon(execution)
        connection.on_drained = self._watch_output
        connection.send_json({"ok": True})
        self.queue.append(execution)
        self._next()

    def restart(self):
        """Ends the kernel and what it has not detached; the context goes on with a new, empty one."""
        self.process.end(self.loop)
        self._replace(_CLOSED)

    def close(self):
        self.process.end(self.loop)
        self._break_off(_CLOSED)
        for waiting in self.queue:
            waiting.finish(error_line(_CLOSED))

    def kernel_died(self):
        """Jupyter restarts a kernel that dies, and tells the cell so."""
        while self.process.receive():
            self._take_frames()
        self._drain()
        self.process.close(self.loop)
        self._replace(_RESTARTED)

    # --- the kernel -------------------------------------------------------------------------------

    def _adopt(self, process):
        self.process, self.count = process, 0
        self.decoders = {fd: codecs.getincrementaldecoder("utf-8")("replace") for fd, _ in process.outputs}
        self._watch_output()

    def _replace(self, reason):
        self._break_off(reason)
        self._adopt(self.kernels.take(self.cwd))
        self._next()

    def _watch_output(self):
        """While the client does not keep up, the pipes fill and the cell waits in its write."""
        stopped = self.current is not None and self.current.congested
        self.loop.watch(self.process.control.fileno(), None if stopped else self._read_frames)
        for fd, kind in self.process.outputs:
            self.loop.watch(fd, None if stopped else lambda fd=fd, kind=kind: self._read_output(fd, kind))

    def _read_output(self, fd, kind):
        """Returns how much was there. Output between two cells belongs to none and is dropped."""
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
        return len(data)

    def _drain(self):
        """What the cell wrote before its last frame is in the pipes; a detached child may go on writing for ever."""
        for fd, kind in self.process.outputs:
            taken = 0
            while taken < _PIPE and (size := self._read_output(fd, kind)):
                taken += size
            if self.current:
                self._emit_text(kind, self.decoders[fd].decode(b"", final=True))

    def _read_frames(self):
        if self.process.receive() is None:
            self.loop.watch(self.process.control.fileno())  # the end of the process will say what happened
        self._take_frames()

    def _take_frames(self):
        while self.current and (frame := self.process.take_frame()):
            kind, payload = frame
            if kind == b"B":
                self._mark_begun()
                continue
            self._drain()
            if kind == b"L":
                self._emit(payload)
            else:
                self._finish()

    def _mark_begun(self):
        self.current.begun = True
        if self.current.abandoned:
            self.process.interrupt()

    def _emit_text(self, kind, text):
        if text:
            now = datetime.datetime.now(datetime.timezone.utc).isoformat()
            self._emit(encode({"type": kind, "text": text, "timestamp": now}))

    def _emit(self, data):
        self.current.emit(data)
        self.last_output = time.monotonic()

    # --- executions -------------------------------------------------------------------------------

    def _next(self):
        if self.current or not self.queue:
            return
        self.current = self.queue.popleft()
        self.count += 1
        self.on_busy()
        self._emit(encode({"type": "number_of_executions", "execution_count": self.count}))
        self.keepalive = self.loop.later(_KEEPALIVE, self._keep_alive)
        self.process.tell(b"E", {"code": self.current.code, "environment": self.current.environment})

    def _finish(self):
        self._end_current()
        self._watch_output()
        self._next()

    def _break_off(self, reason):
        if self.current:
            self._end_current(error_line(reason))

    def _end_current(self, *last_lines):
        execution, self.current = self.current, None
        self.keepalive.cancel()
        execution.finish(*last_lines)

    def _abandon(self, execution):
        """The client went away: the code interpreter interrupts the cell, like Ctrl-C, for the next one not to wait."""
        execution.abandoned = True
        if execution is self.current:
            if execution.begun:  # earlier, the kernel would take it for a late one of the cell before
                self.process.interrupt()
            self._watch_output()
        else:
            self.queue.remove(execution)
            execution.connection.close()

    def _keep_alive(self):
        """Writing is also how a connection is found to be broken."""
        silence = time.monotonic() - self.last_output
        if silence >= _KEEPALIVE:
            silence = 0
            if not self.current.connection.waiting:
                self._emit(encode({"type": "keepalive"}))
        self.keepalive = self.loop.later(_KEEPALIVE - silence, self._keep_alive)
