"""The agent's end of the kernels: one queue per context, output forwarded while the cell runs."""

import codecs
import collections
import datetime
import json
import os
import signal
import socket
import time
import uuid

from . import kernel
from .loop import forget_parent

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


class KernelProcess:
    """A forked kernel, seen from the agent: its pid and the ends of its three channels."""

    def __init__(self, limits):
        self.control, control = socket.socketpair()
        self.stdout, stdout = os.pipe()
        self.stderr, stderr = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                forget_parent({control.fileno(), stdout, stderr})
                limits.bind_process()
                kernel.run(control, stdout, stderr)
            finally:
                os._exit(70)
        control.close()
        os.close(stdout)
        os.close(stderr)
        os.set_blocking(self.stdout, False)
        os.set_blocking(self.stderr, False)

    def tell(self, kind, message):
        kernel.write_frame(self.control, kind, json.dumps(message).encode())

    def interrupt(self):
        """The whole process group, as Jupyter does: what the cell started without detaching it belongs to the cell."""
        try:
            os.killpg(self.pid, signal.SIGINT)
        except ProcessLookupError:
            return  # it has just ended, or not yet begun

    def close(self):
        self.control.close()
        os.close(self.stdout)
        os.close(self.stderr)


class Execution:
    def __init__(self, connection, code, environment):
        self.connection, self.code, self.environment = connection, code, environment
        self.abandoned = False

    def emit(self, data):
        if not self.abandoned:
            self.connection.send(data)


class Context:
    def __init__(self, agent, process, cwd, language="python"):
        self.agent, self.loop = agent, agent.loop
        self.id, self.cwd, self.language = str(uuid.uuid4()), cwd, language
        self.queue, self.current, self.count = collections.deque(), None, 0
        self.keepalive = None
        self._adopt(process)

    def describe(self):
        return {"id": self.id, "language": self.language, "cwd": self.cwd}

    def execute(self, connection, code, environment):
        execution = Execution(connection, code, environment)
        connection.on_end = lambda: self._abandon(execution)
        connection.on_drained = self._watch_output
        connection.send_json({"ok": True})
        self.queue.append(execution)
        self._next()

    def replace_kernel(self, reason=_CLOSED):
        """Ends the kernel and everything it has not detached; the context goes on with a new, empty one."""
        process = self.process
        self._end(reason)
        self.agent.end_kernel(process)
        self._adopt(self.agent.new_kernel(self.cwd))
        self._next()

    def close(self):
        self._end(_CLOSED)
        for waiting in self.queue:
            waiting.emit(error_line(_CLOSED) + encode({"type": "end_of_execution"}))
            waiting.connection.finish()
        self.queue.clear()
        self.agent.end_kernel(self.process)

    def kernel_died(self):
        """Jupyter restarts a kernel that dies and tells the cell so."""
        while self._read_frames():
            pass
        self._drain()
        process = self.process
        self._end(_RESTARTED)
        self._forget(process)
        process.close()
        self._adopt(self.agent.new_kernel(self.cwd))
        self._next()

    # --- the kernel -------------------------------------------------------------------------------

    def _adopt(self, process):
        self.process, self.count, self.frames = process, 0, bytearray()
        process.control.setblocking(True)
        self.decoders = {fd: codecs.getincrementaldecoder("utf-8")("replace") for fd in (process.stdout, process.stderr)}
        self._watch_output()

    def _forget(self, process):
        for fd in (process.control.fileno(), process.stdout, process.stderr):
            self.loop.watch(fd)

    def _watch_output(self):
        """While the client does not keep up, the pipes fill and the cell waits in its write."""
        process = self.process
        stopped = self.current is not None and not self.current.abandoned and self.current.connection.congested
        self.loop.watch(process.control.fileno(), None if stopped else self._read_frames)
        for fd, kind in ((process.stdout, "stdout"), (process.stderr, "stderr")):
            self.loop.watch(fd, None if stopped else lambda fd=fd, kind=kind: self._read_output(fd, kind))

    def _read_output(self, fd, kind):
        """Returns how much was there. Output between two cells belongs to none and is dropped."""
        try:
            data = os.read(fd, _PIPE)
        except BlockingIOError:
            return 0
        if not data:
            self.loop.watch(fd)
            return 0
        if self.current:
            self._emit_text(kind, self.decoders[fd].decode(data))
            if self.current.connection.congested:
                self._watch_output()
        return len(data)

    def _emit_text(self, kind, text):
        if text:
            now = datetime.datetime.now(datetime.timezone.utc).isoformat()
            self._emit(encode({"type": kind, "text": text, "timestamp": now}))

    def _emit(self, data):
        self.current.emit(data)
        self.last_output = time.monotonic()

    def _drain(self):
        """What the cell wrote before its last frame is in the pipes; a detached child may go on writing for ever."""
        for fd, kind in ((self.process.stdout, "stdout"), (self.process.stderr, "stderr")):
            taken = 0
            while taken < _PIPE and (size := self._read_output(fd, kind)):
                taken += size
            if self.current:
                self._emit_text(kind, self.decoders[fd].decode(b"", final=True))

    def _read_frames(self):
        """Returns whether there was anything."""
        try:
            data = self.process.control.recv(1 << 20, socket.MSG_DONTWAIT)
        except (BlockingIOError, ConnectionError):
            return False
        if not data:
            self.loop.watch(self.process.control.fileno())  # the end of the process will say what happened
            return False
        self.frames += data
        while (frame := self._take_frame()) is not None:
            kind, payload = frame
            if self.current is None:
                continue
            self._drain()
            if kind == b"L":
                self._emit(payload)
            else:
                self._finish()
        return True

    def _take_frame(self):
        header = kernel._HEADER
        if len(self.frames) < header.size:
            return None
        kind, size = header.unpack_from(self.frames)
        end = header.size + size
        if len(self.frames) < end:
            return None
        payload = bytes(self.frames[header.size : end])
        del self.frames[:end]
        return kind, payload

    # --- executions -------------------------------------------------------------------------------

    def _next(self):
        if self.current or not self.queue:
            return
        self.current = self.queue.popleft()
        self.count += 1
        self.agent.watchdog.wake()
        self._emit(encode({"type": "number_of_executions", "execution_count": self.count}))
        self.keepalive = self.loop.later(_KEEPALIVE, self._keep_alive)
        message = {"code": self.current.code, "environment": self.current.environment}
        try:
            self.process.tell(b"E", message)
        except ConnectionError:
            return  # the kernel is dead, and its end is about to be noticed

    def _finish(self, *last_lines):
        execution, self.current = self.current, None
        for line in last_lines:
            execution.emit(line)
        execution.emit(encode({"type": "end_of_execution"}))
        self.keepalive.cancel()
        execution.connection.on_end = execution.connection.on_drained = None
        execution.connection.finish()
        self._watch_output()
        self._next()

    def _end(self, reason):
        if self.current:
            queue, self.queue = self.queue, collections.deque()
            self._finish(error_line(reason))
            self.queue = queue

    def _abandon(self, execution):
        """The client went away: the code interpreter interrupts the cell, like Ctrl-C, for the next one not to wait."""
        execution.abandoned = True
        if execution is self.current:
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
