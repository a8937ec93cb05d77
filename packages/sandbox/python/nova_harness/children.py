"""Processes that the code starts: they run the code's functions, and none of them has the node's result."""

import atexit
import contextlib
import os
import shutil
import signal
import sys
from multiprocessing import process

from . import faults

# A child of multiprocessing that is not forked runs this file as its __main__. The names are those that code has without
# an import. The lines and the name of the code stay what they are.
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
    Writes the code where processes find it: `name`, which `__main__` names, counts from the folder. A process that cannot
    import the code signals this one: a Pool would wait for ever.
    """
    signal.signal(signal.SIGUSR1, _fail)
    process.ORIGINAL_DIR = folder
    sys.modules["__mp_main__"] = sys.modules["__main__"]  # what children call the code
    process.current_process().authkey = os.urandom(32)  # else all that are forked from one process would share it
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
    """Ends pools and removes semaphores of the code that has ended, as Python does at its exit. `folder`: of `lay_main`."""
    with contextlib.suppress(Exception):  # the code may have put anything in their place
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        shutil.rmtree(folder, ignore_errors=True)
        if util := sys.modules.get("multiprocessing.util"):
            util._run_finalizers(0)


def end_forked(end):
    """Never returns. `end`: the exception that the process ends with, or None. It ends as a script does."""
    status = 0
    try:
        status = _status_of(end)
        atexit._run_exitfuncs()
    except BaseException:
        status = status or 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # the code may have put anything in its place
                stream.flush()
        os._exit(status)


def _status_of(end):
    if end is None or (isinstance(end, SystemExit) and end.code is None):
        return 0
    if isinstance(end, SystemExit) and isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code if isinstance(end, SystemExit) else faults.describe(end)["traceback"], file=sys.stderr)
    return 1
