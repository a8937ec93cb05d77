"""A kernel: the process that runs cells, one after the other, with its own globals. It has one thread, so that a cell
may fork. It reads requests from `control` and answers with frames: `B` when the cell starts and can be interrupted, `D`
when the cell is done, with its last line if it has one."""

import ast
import builtins
import io
import json
import linecache
import os
import signal
import struct
import sys
import traceback
import types

from . import linux

HEADER = struct.Struct(">cI")
_CACHED_SOURCE = 1 << 20


def run(control, stdout, stderr):
    """Runs a kernel, and never returns. `stdout` and `stderr` are pipes to the agent."""
    os.setsid()
    if sys.platform == "linux":
        linux.set_dumpable(True)  # The user may trace a kernel, but not the agent.
    null = os.open(os.devnull, os.O_RDONLY)
    for fd, number in ((null, 0), (stdout, 1), (stderr, 2)):
        os.dup2(fd, number)
    Kernel(control, stdout, stderr).serve()


def write_frame(sock, kind, payload=b""):
    sock.sendall(HEADER.pack(kind, len(payload)) + payload)


def read_frame(sock):
    header = _read_exactly(sock, HEADER.size)
    if header is None:
        return None, b""
    kind, size = HEADER.unpack(header)
    return kind, _read_exactly(sock, size)


def _read_exactly(sock, size):
    parts, missing = [], size
    while missing:
        part = sock.recv(min(missing, 1 << 20))
        if not part:
            return None
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


class Kernel:
    def __init__(self, control, stdout, stderr):
        self.control, self.pipes, self.pid = control, {1: stdout, 2: stderr}, os.getpid()
        self.count, self.running = 0, False
        self.module = types.ModuleType("__main__")
        self.module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self.module
        sys.argv = [""]
        sys.path.insert(0, "")
        self.open_streams()
        signal.signal(signal.SIGINT, self.interrupt)
        os.register_at_fork(before=self.flush, after_in_child=self.disown)

    def serve(self):
        while True:
            try:
                kind, payload = read_frame(self.control)
                if kind is None:
                    os._exit(0)
                request = json.loads(payload)
                if kind == b"C":
                    os.environ.update(request)
                else:
                    self.execute(request)
            except KeyboardInterrupt:
                continue  # The interrupt arrived between two cells.

    def execute(self, code):
        self.count += 1
        self.last_line = None
        self.open_streams()
        try:
            self.run_cell(code)
        finally:
            # Sends the last line and the end of the cell in one frame, so that the agent wakes up only once.
            write_frame(self.control, b"D", json.dumps(self.last_line).encode() + b"\n" if self.last_line else b"")

    def run_cell(self, code):
        name = f"<cell {self.count}>"
        if len(code) < _CACHED_SOURCE:
            linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        try:
            signal.signal(signal.SIGINT, self.interrupt)
            self.running = True
            write_frame(self.control, b"B")
            value = evaluate(code, name, self.module.__dict__)
            self.running = False
            self.end_if_forked()
            if value is not None:
                text = value if isinstance(value, str) else repr(value)
                self.last_line = {"type": "result", "is_main_result": True, "text": text}
        except BaseException as error:
            self.running = False
            self.end_if_forked(error)
            self.last_line = {"type": "error", **describe(error)}
        finally:
            self.running = False
            self.flush()

    def interrupt(self, *_):
        if self.running:
            raise KeyboardInterrupt

    def open_streams(self):
        """Opens stdout and stderr again before each cell, because the cell before may have closed them, as files or as
        descriptors."""
        for number, pipe in self.pipes.items():
            os.dup2(pipe, number)
        for name, number in (("stdout", 1), ("stderr", 2)):
            if self.count == 0 or is_closed(getattr(sys, name, None)):
                setattr(sys, name, open_stream(number))
                setattr(sys, f"__{name}__", getattr(sys, name))
        if sys.stdin is None or sys.stdin.closed:
            sys.stdin = open(0, closefd=False)

    def flush(self):
        for name in ("stdout", "stderr"):
            try:
                getattr(sys, name).flush()
            except (AttributeError, OSError, ValueError):
                continue  # The cell has closed or replaced the stream.

    def disown(self):
        """Called in a process that a cell has forked. Keeps that process from answering the agent as if it were the
        kernel."""
        if os.getpid() != self.pid:
            self.control.close()

    def end_if_forked(self, error=None):
        """Ends this process if a cell has forked it and it has reached the end of the cell. Otherwise it would continue
        as a second kernel."""
        if os.getpid() == self.pid:
            return
        if isinstance(error, SystemExit):
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
        else:
            code = int(error is not None)
            if error is not None:
                print(describe(error)["traceback"], file=sys.stderr)
        self.flush()
        os._exit(code & 0xFF)


def evaluate(code, name, scope):
    """Executes the code of a cell. Returns the value of its last line if that is an expression, and otherwise None."""
    tree, last = ast.parse(code, name), None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, name, "exec"), scope)
    return None if last is None else eval(compile(last, name, "eval"), scope)


def describe(error):
    try:
        value, trace = str(error), "".join(traceback.format_exception(error))
    except Exception as second:  # The code that formats the error belongs to the user, so it can fail.
        value = trace = f"(it cannot be shown: {type(second).__name__})"
    return {"name": type(error).__name__, "value": value, "traceback": trace}


def is_closed(stream):
    try:
        return stream is None or stream.closed
    except (AttributeError, ValueError):
        return not hasattr(stream, "write") or hasattr(stream, "detach")


def open_stream(number):
    buffered = open(number, "wb", closefd=False)
    return io.TextIOWrapper(buffered, encoding="utf-8", errors="backslashreplace", line_buffering=True)
