"""Outcomes of failed code. Each message is one sentence, which also says what to do."""

import errno
import os
import signal
import socket
import traceback

from .encode import Unfit, cut

_MEMORY = "use less memory, or process the data in parts"


def _failure(message, kind="NodeFailed"):
    return {"type": "result", "result": {"status": "error", "class": kind, "message": message, "traceback": ""}}


def timed_out(seconds):
    most = "at most 86400, of a prompt node 600"
    return _failure(f'ran longer than {seconds:g} s - raise "timeout" ({most}) or make the code faster', "NodeTimeout")


def died(status):
    """Describes code whose process ended without a result. `status` is that of os.wait; None if the whole process tree
    was killed from outside."""
    if status is not None and os.WIFSIGNALED(status):
        return _failure(_signalled(os.WTERMSIG(status)))
    if status is None:
        return _failure(f"the code was killed from outside, most likely for the memory it used - {_MEMORY}")
    code = os.waitstatus_to_exitcode(status)
    return _failure(
        f"the code ended its process with exit status {code} before its result could be taken, as os._exit({code}) does"
        " - let it run to its end, or use sys.exit()"
    )


def took_too_much():
    return _failure(
        "the code has more than 2 GiB of memory, with all its processes, what they share, and its files in /tmp, /dev/shm"
        f" and its home - {_MEMORY}"
    )


def _signalled(number):
    if number == signal.SIGKILL:
        return f"the code was killed, most likely for the memory it used - {_MEMORY}"
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE):
        return (
            f"the code crashed the Python interpreter ({name}), as faulty native libraries do - the logs may show where"
        )
    return f"the code was ended by a signal ({name}) - remove what sends it"


def lost():
    return _failure(
        "the sandbox lost track of the code while it ran, most likely for want of memory - run the node again"
        f" if it may run twice, and {_MEMORY}"
    )


def damaged(error):
    return _failure(
        f"the code meddled with the harness around it ({error}) - leave descriptors alone that you did not open"
    )


def too_large():
    return _failure(
        "the code sets too many small values: together they have more than 60 MB"
        " - put them into fewer, larger values, such as one list, which are stored apart"
    )


def not_kept(message):
    told = _failure("the result could not be kept, because the sandbox's disk is full - write fewer files")
    return {**told, "logs": "", "durationMs": message["durationMs"]}


def weaker_walls(asks, error):
    """Describes missing isolation. `asks` is true if only the network guard is missing, and false if all isolation is
    missing."""
    if asks:
        return f"this system lets no guard answer for code ({error}): code reaches the sandbox's own network"
    return f"this system makes no walls between programs ({error}): code is not isolated from the sandbox"


def not_begun(reason):
    return {"type": "trouble", "message": f"the sandbox could not begin the code ({reason})"}


_BY_HAND = "or write the node's code by hand"

NO_WALLS = (
    "the code may only run with a network of its own, and this machine has no walls between programs"
    f" - on Linux install bubblewrap and allow user namespaces, {_BY_HAND}"
)


def no_network_walls(reason):
    problem = f"the code may only run with a network of its own, and this machine gives none ({reason})"
    return f"{problem} - allow network namespaces, {_BY_HAND}"


def no_such_network(error):
    return f"network.allow cannot be enforced ({error}) - correct it"


_HERE = os.path.dirname(os.path.abspath(__file__))
_MESSAGE_CHARS = 8_000
_TRACEBACK_CHARS = 2_000, 32_000
_TYPES, _TYPE_CHARS = 30, 300


def describe(error, is_walled_off=False):
    if isinstance(error, Unfit):
        return failure(str(error))
    message = _message_of(error)
    if is_walled_off and any(map(_is_of_walls, _chain(error))):
        message = f"{message} - network.allow of the node says where its code can connect to"
    if isinstance(error, KeyError) and isinstance(cure := getattr(error, "cure", None), str):
        message = f"{message} - {cure}"
    if isinstance(error, MemoryError):
        message = "MemoryError: the code needs more than 2 GiB of memory - use less, or process the data in parts"
    return {**failure(message, _traceback_of(error)), "types": _types_of(error), **_response_of(error)}


def exited(error):
    """Describes a sys.exit() of the code; None if its status means success."""
    if error.code is None or error.code == 0:
        return None
    if isinstance(error.code, int):
        return failure(
            f"the code ended with sys.exit({error.code}) - use sys.exit(0), or raise an error that says why"
        )
    return failure(f"SystemExit: {_text_of(error.code)}", _traceback_of(error))


def failure(message, trace=""):
    shown = cut(message, _MESSAGE_CHARS), cut(trace, *_TRACEBACK_CHARS)
    whole = [text.encode("utf-8", "replace").decode() for text in shown]
    return {"status": "error", "class": "NodeFailed", "message": whole[0], "traceback": whole[1]}


def _message_of(error):
    name, text = type(error).__name__, _text_of(error)
    return f"{name}: {text}" if text else name


def _text_of(value):
    try:
        return str(value)
    except Exception as second:  # A `__str__` that the code defines can fail.
        return f"(its text cannot be shown: {type(second).__name__})"


def _traceback_of(error):
    try:
        shown = traceback.TracebackException.from_exception(error, compact=True)
        _hide_harness(shown)
        return "".join(shown.format())
    except Exception as second:  # The code can define error objects that break every formatter.
        return f"{type(error).__name__} (its traceback cannot be shown: {type(second).__name__})\n"


def _response_of(error):
    """Returns status and Retry-After of the HTTP response that an exception reports, if any. urllib has `code`,
    requests and httpx have a response with `status_code`, aiohttp has `status`, and botocore has a dict."""
    try:
        response = getattr(error, "response", None)
        if isinstance(response, dict):
            metadata = response.get("ResponseMetadata", {})
            found, headers = [metadata.get("HTTPStatusCode")], metadata.get("HTTPHeaders")
        else:
            found = [getattr(response, "status_code", None), getattr(error, "status_code", None)]
            found += [getattr(error, "code", None), getattr(error, "status", None)]
            headers = getattr(response, "headers", None) or getattr(error, "headers", None)
        status = next((int(one) for one in found if isinstance(one, int) and 100 <= one <= 599), None)
        if status is None:
            return {}
        after = headers and (headers.get("Retry-After") or headers.get("retry-after"))
        return {"httpStatus": status, **({"retryAfter": after[:100]} if isinstance(after, str) else {})}
    except Exception:  # Attributes that the code defines can fail.
        return {}


def _types_of(error):
    """Returns the names of the exception's class and its base classes with their modules, nearest first."""
    return [_name_of(kind) for kind in type.__dict__["__mro__"].__get__(type(error))[:_TYPES] if kind is not object]


def _name_of(kind):
    try:
        module, name = kind.__module__, kind.__qualname__
        whole = name if module == "builtins" else f"{module}.{name}"
        return whole.encode("utf-8", "replace").decode()[:_TYPE_CHARS]
    except Exception:  # A metaclass that the code defines can fail.
        return "?"


def _is_of_walls(error):
    """True for errors that a connection gets if the isolation blocks it: unknown name, no route, or connection
    refused."""
    no_name, no_way = isinstance(error, socket.gaierror), (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ECONNREFUSED)
    return no_name or (isinstance(error, OSError) and error.errno in no_way)


def _chain(error):
    """Returns an error, then the cause or context of this error, then the cause or context of that one, and so on."""
    seen = {}
    while error is not None and id(error) not in seen:
        seen[id(error)] = error
        error = error.__context__ if error.__cause__ is None else error.__cause__
    return seen.values()


def _hide_harness(shown):
    seen, waiting = set(), [shown]
    while waiting:
        part = waiting.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        frames = [frame for frame in part.stack if not frame.filename.startswith(_HERE)]
        part.stack = traceback.StackSummary.from_list(frames)
        waiting += [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or ())]
