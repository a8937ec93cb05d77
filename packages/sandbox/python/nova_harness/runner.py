"""Runs one node's code in a process that exists only for it, and writes the result for the daemon."""

import atexit
import base64
import builtins
import contextlib
import faulthandler
import gc
import json
import linecache
import os
import re
import shutil
import signal
import sys
import threading
import types
from json import dumps, loads
from multiprocessing import process

from . import jail, outcomes, wire
from .context import Outputs, Tasks, Unloaded, make_context, raw_items
from .encode import LEAF_BYTES, Encoder, Known, Unfit, cut, decode, load_value
from .printed import Printed, PrintedResult, Stream
from .supply import Supply
from .tools import Tools, result_of

_PRIVATE_ENVIRONMENT = re.compile(r"(AWS|E2B|IPY|JPY|JUPYTER|NOVA|OPENAI)")
_INLINE_BLOBS_BYTES = 64 * 1024
_REHEARSAL = '[["n", "1"]]'
# After this number of runs, Python has adapted its bytecode, so that forked processes do not write to its memory.
_REHEARSALS = 10
_LOST_ANSWER = (
    "the code gave the name context to another dict, and what it set there is lost - write context.update({...}), "
    "or context.clear() and then context.update({...}) to start from nothing"
)

_LOST_RESULT = (
    "the code printed a result that does not count, because its own json.dumps did not make it - "
    "write print(json.dumps({...})), or set context[...] instead"
)


class Runner:
    """Everything that a process needs to run code. It is created once in the zygote, and each forked process inherits a
    copy."""

    def __init__(self):
        if hasattr(sys, "set_int_max_str_digits"):
            sys.set_int_max_str_digits(0)
        self.supply = Supply()
        self.is_walled_off = False
        self.encoder = Encoder(known=self.supply.loaded)
        self.printed = self._make_streams()
        self.main = self._make_main_module()
        faulthandler.enable(file=2)
        self.builtins = dict(builtins.__dict__)
        for _ in range(_REHEARSALS):
            self._rehearse()

    def serve(self, control, walls):
        """Runs in the forked process, and never returns. Isolates the process, then waits for a request."""
        reader = wire.Reader(control)
        os.environ["HOME"] = walls.settle()
        sys.path[:] = [walls.lib, *filter(None, sys.path)]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._open_streams()
        _reseed()
        self._rehearse()
        gc.enable()
        self.supply.open(control, reader)
        way_out, files = walls.way_out()
        wire.send(control, {"ready": True, "files": len(files), **way_out}, files)
        for fd in files:
            os.close(fd)
        message = reader.read()
        if message is None:
            os._exit(0)
        if walls.hosts is not None:
            os.write(walls.hosts, message["hosts"].encode())
            os.close(walls.hosts)
        request, out = reader.files
        reader.files = []
        walls.shut(out)
        with open(request, encoding="utf-8") as file:
            asked = loads(file.read())
            main = MainFile(walls.main_folder, asked["fileName"], asked["code"])
            main.offer()
            wire.send(control, {"begun": True})
            self._run(asked, out, main)
        wire.send(control, {"complete": True})
        signal.pause()

    def _make_streams(self):
        """Replaces the streams that were inherited from the kernel. A stream checks whether its file is a pipe only at
        the moment of its creation. When code runs, the file is a pipe, so this method creates the streams on a pipe,
        too."""
        before, ends = (os.dup(1), os.dup(2)), os.pipe()
        for number in (1, 2):
            os.dup2(ends[1], number)
        sys.stdin = sys.__stdin__ = open(0, closefd=False)
        sys.stdout = sys.__stdout__ = printed = Printed()
        sys.stderr = sys.__stderr__ = Stream(2)
        for number, fd in zip((1, 2), before):
            os.dup2(fd, number)
        for fd in (*before, *ends):
            os.close(fd)
        printed.watch_json()
        return printed

    def _open_streams(self):
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.register_at_fork(before=self.printed.flush_before_fork, after_in_child=self.printed.pass_all_on)

    def _make_main_module(self):
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        given = {"outputs": Outputs(self.supply), "tasks": Tasks(self.supply)}
        main.__dict__.update(__builtins__=builtins, json=json, base64=base64, **given)
        return main

    def _rehearse(self):
        """Runs a little code in advance. The process then copies the memory pages to which it writes now, and not while
        a caller waits."""
        before, depth = dict(self.main.__dict__), sys.getrecursionlimit()
        context = make_context(loads(_REHEARSAL), self.supply)
        self._execute("rehearsal", 'context["n"] = context.get("n") + 1', context.values)
        builtins.__dict__.update(self.builtins)
        changes, _ = collect(context, PrintedResult("", False), self.encoder, self.supply)
        loads(dumps(changes).encode())
        sys.setrecursionlimit(depth)
        linecache.cache.clear()
        self.main.__dict__.clear()
        self.main.__dict__.update(before)

    def _run(self, request, out, main):
        try:
            os.environ.update(request["environment"])
            self.is_walled_off = "network" in request
            context = make_context(request["context"], self.supply)
            tools = Tools(request["calls"]) if "calls" in request else None
            if tools:
                self.main.tools = tools
            failure = self._execute(request["fileName"], request["code"], context.values)
            builtins.__dict__.update(self.builtins)  # The code may have replaced builtins.
            jail.raise_descriptors()
            end_children(main)
            result = (tools and result_of(tools)) or failure or self._result(context, request["code"], out)
        except BaseException as error:  # The error is a MemoryError, or a KeyboardInterrupt outside the code.
            result = outcomes.describe(error)
        self.printed.finish()
        try:
            _write(out, "result", dumps(result).encode())
        except OSError as error:
            os.write(2, f"the result could not be written: {error}\n".encode())

    def _execute(self, name, code, context):
        """Returns the failure of the code, or None. Does not return in a process that the code has forked: that process
        has no result, and ends here."""
        sys.argv = [name]
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        self.main.__dict__.update(__file__=name, context=context)
        owner, end = os.getpid(), None
        try:
            exec(compile(code, name, "exec", dont_inherit=True), self.main.__dict__)
            _join_threads()
        except BaseException as error:
            end = error
        if os.getpid() != owner:
            end_forked(end)
        if isinstance(end, SystemExit):
            return outcomes.exited(end)
        return None if end is None else outcomes.describe(end, self.is_walled_off)

    def _result(self, context, code, out):
        printed = self.printed.result()
        is_lost = not printed.is_explicit and self.printed.lost_result(code)
        if printed.failure is not None:
            return outcomes.failure(printed.failure)
        changes, blobs = collect(context, printed, self.encoder, self.supply)
        says_nothing = not (printed.text or changes["set"] or changes["delete"])
        if says_nothing and self._answers_elsewhere(context.values):
            return outcomes.failure(_LOST_ANSWER)
        if says_nothing and is_lost:
            return outcomes.failure(_LOST_RESULT)
        if is_lost:
            os.write(2, f"nova: {_LOST_RESULT}\n".encode())
        return {"status": "success", **changes, "blobs": self._save(blobs, out)}

    def _answers_elsewhere(self, given):
        """True if the code bound the name `context` to another dict with other contents. What the code set there is
        lost."""
        named = self.main.__dict__.get("context")
        if named is given or not isinstance(named, dict):
            return False
        values = dict(raw_items(given))
        if len(named) == len(values) and all(values.get(key, self) is value for key, value in named.items()):
            return False
        return named.keys() != given.keys() or named != given

    def _save(self, blobs, out):
        """Writes blobs to files. Small blobs are also part of the result, which saves one request each."""
        described, inline = [], 0
        for reference, data in blobs.values():
            entry = dict(reference)
            if data is not None and reference["sha256"] not in self.supply.loaded.hashes:
                _write(out, reference["sha256"], data)
            if data is not None and inline + len(data) <= _INLINE_BLOBS_BYTES:
                inline += len(data)
                entry["data"] = base64.b64encode(data).decode()
            described.append(entry)
        return described


def _write(folder, name, data):
    fd = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=folder)
    with open(fd, "wb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]


def clean_environment():
    """Removes variables of the kernel and the platform, which the code must not see."""
    for name in list(os.environ):
        if _PRIVATE_ENVIRONMENT.match(name):
            del os.environ[name]
    # Makes Python processes that the code starts print immediately, although they print to a pipe.
    os.environ.update(USER="node", LOGNAME="node", TMPDIR="/tmp", PYTHONUNBUFFERED="1")


def _reseed():
    """Reseeds numpy's generator, because every forked process inherits the same state of that generator. The standard
    library reseeds its own."""
    numbers = sys.modules.get("numpy.random")
    if numbers:
        numbers.seed()


def _join_threads():
    """Waits for the code's threads, as Python does at the end of a script."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


_IMMUTABLE = (str, int, float, bool, bytes, type(None))


def collect(context, printed, encoder, supply):
    """Returns ({"set": [[key, text]], "delete": [keys]}, blobs). `printed` holds the updates that the code printed."""
    comparison = _Comparison(context.originals, encoder, supply)
    changed, blobs = {}, {}

    def add(key, text, found):
        if key.startswith("$"):
            raise Unfit(f"context has the key {cut(repr(key), 80)} - such keys mark NOVA's references: use another name")
        changed[key] = text
        blobs.update(found)

    for key, value in raw_items(context.values):
        if not comparison.is_same_object(key, value):
            text, found = encoder.encode(key, value)
            if not comparison.is_unchanged(key, text):
                add(key, text, found)
    deleted = [key for key in context.originals if key not in context.values]
    if printed.is_explicit or not (changed or deleted):
        for key, value in printed.updates.items():
            text, found = encoder.encode(key, value)
            if printed.is_explicit or not comparison.is_unchanged(key, text):
                add(key, text, found)
        printed.is_used = True
    return {"set": list(changed.items()), "delete": [key for key in deleted if key not in changed]}, blobs


class _Comparison:
    """Compares values by their JSON text, because 1, 1.0 and True are equal in Python."""

    def __init__(self, originals, encoder, supply):
        self._originals, self._encoder, self._supply = originals, encoder, supply

    def is_same_object(self, key, value):
        if type(value) is Unloaded:
            return True
        original = self._originals.get(key) if type(key) is str else None
        return original is not None and original.value is value and type(value) in _IMMUTABLE

    def is_unchanged(self, key, text):
        """Returns whether a value is unchanged. A different text may still be the same value in another notation:
        `850.00`, spaces, escapes."""
        original = self._originals.get(key)
        if original is None:
            return False
        return text == original.text or text == self._encoder.encode(key, self._reread(original.text))[0]

    def _reread(self, text):
        return decode(text, self._reload)

    def _reload(self, reference):
        """Keeps references to leaves, which the encoder would turn into the same references again."""
        is_leaf = reference["type"] == "bytes" or (reference["type"] == "text" and reference["bytes"] > LEAF_BYTES)
        if is_leaf:
            return Known(reference)
        if reference["type"] == "json":
            return self._reread(self._supply.blob(reference).decode("utf-8"))
        return load_value(reference, self._supply)


# A spawned child of multiprocessing runs this file as its __main__. The file imports the names that code has without an
# import, and keeps the code's line numbers and file name.
_CHILD_MAIN = """
import base64, json
try:
    with open({path!r}, encoding="utf-8", errors="surrogatepass", newline="") as file:
        code = file.read()
    __import__("linecache").cache[{name!r}] = (len(code), None, code.splitlines(True), {name!r})
    exec(compile(code, {name!r}, "exec", dont_inherit=True))
except BaseException:
    import os, signal
    os.kill({owner}, signal.SIGUSR1)
    raise
"""
_NOT_IMPORTED = (
    "a process that the code has started cannot import the code, and the log says why - put everything but imports, "
    'functions and classes below if __name__ == "__main__":'
)


class MainFile:
    """The code as a file that child processes import, `name` inside a folder. The file is only written when
    multiprocessing asks for the path of the folder, because few nodes start such processes."""

    def __init__(self, make_folder, name, code):
        """`make_folder` creates the folder and returns its path."""
        self._make_folder, self._name, self._code = make_folder, name, code
        self._owner, self._folder = os.getpid(), None

    def offer(self):
        """Makes multiprocessing use the file. A child that cannot import the code signals this process, because a Pool
        would otherwise wait forever."""
        signal.signal(signal.SIGUSR1, _refuse_import)
        process.ORIGINAL_DIR = self
        # This is the name under which child processes know the module of the code.
        sys.modules["__mp_main__"] = sys.modules["__main__"]
        # Without a new key, all processes that the zygote forks would have the same key.
        process.current_process().authkey = os.urandom(32)

    def __fspath__(self):
        if self._folder is None:
            self._folder = self._make_folder()
            self._write()
        return self._folder

    def __reduce__(self):
        return str, (os.fspath(self),)

    def _write(self):
        main = os.path.normpath(os.path.join(self._folder, self._name))
        if not main.startswith(f"{self._folder}/"):
            return
        os.makedirs(os.path.dirname(main), exist_ok=True)
        path = f"{main}.code"
        child_main = _CHILD_MAIN.format(path=path, name=self._name, owner=self._owner)
        for place, text in ((path, self._code), (main, child_main)):
            with open(place, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
                file.write(text)

    def remove(self):
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _refuse_import(*_):
    # A Pool starts one process after the other, so several processes would send the signal.
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    raise RuntimeError(_NOT_IMPORTED)


def end_children(main):
    """Ends pools and removes semaphores after the code, as Python does at exit. Removes the file `main`."""
    with contextlib.suppress(Exception):  # The code may have replaced these modules.
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        main.remove()
        if util := sys.modules.get("multiprocessing.util"):
            util._run_finalizers(0)


def end_forked(end):
    """Ends a process that the code has forked, as Python ends a script. `end` is the final exception, or None."""
    status = 0
    try:
        status = _status_of(end)
        atexit._run_exitfuncs()
    except BaseException:
        status = status or 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # The code may have replaced the stream.
                stream.flush()
        os._exit(status)


def _status_of(end):
    if end is None or (isinstance(end, SystemExit) and end.code is None):
        return 0
    if isinstance(end, SystemExit) and isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code if isinstance(end, SystemExit) else outcomes.describe(end)["traceback"], file=sys.stderr)
    return 1
