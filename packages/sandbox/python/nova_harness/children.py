"""Support for processes that the code starts. They run functions of the code, but cannot produce the node's result."""

import atexit
import contextlib
import os
import shutil
import signal
import sys
from multiprocessing import process

from . import faults

# A spawned child of multiprocessing runs this file as its __main__. It imports the names that code has without an
# import, and
# keeps the code's line numbers and file name.
_MAIN = """
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


def lay_main(folder, name, code):
    """
    Writes the code to a file that child processes import, `name` inside the folder. A child that cannot import the code
    signals this process, because a Pool would otherwise wait forever.
    """
    signal.signal(signal.SIGUSR1, _fail)
    process.ORIGINAL_DIR = folder
    sys.modules["__mp_main__"] = sys.modules["__main__"]  # the code's module name in children
    process.current_process().authkey = os.urandom(32)  # else all processes forked from the nursery would share a key
    main = os.path.normpath(os.path.join(folder, name))
    if not main.startswith(f"{folder}/"):
        return
    os.makedirs(os.path.dirname(main), exist_ok=True)
    path = f"{main}.code"
    for place, text in ((path, code), (main, _MAIN.format(path=path, name=name, owner=os.getpid()))):
        with open(place, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(text)


def _fail(*_):
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # a Pool starts one process after the other
    raise RuntimeError(_NOT_IMPORTED)


def release(folder):
    """Ends pools and removes semaphores after the code, as Python does at exit. `folder` is that of `lay_main`."""
    with contextlib.suppress(Exception):  # the code may have replaced these modules
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        shutil.rmtree(folder, ignore_errors=True)
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
            with contextlib.suppress(Exception):  # the code may have replaced the stream
                stream.flush()
        os._exit(status)


def _status_of(end):
    if end is None or (isinstance(end, SystemExit) and end.code is None):
        return 0
    if isinstance(end, SystemExit) and isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code if isinstance(end, SystemExit) else faults.describe(end)["traceback"], file=sys.stderr)
    return 1
