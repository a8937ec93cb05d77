"""Describes how code failed, as the chain of work keeps it: one line, and a traceback without frames of the harness."""

import errno
import os
import socket
import traceback

from .cut import cut
from .encode import Unfit

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
    except Exception as second:  # __str__ is foreign code
        return f"(its text cannot be shown: {type(second).__name__})"


def _traceback_of(error):
    try:
        shown = traceback.TracebackException.from_exception(error, compact=True)
        _hide_harness(shown)
        return "".join(shown.format())
    except Exception as second:  # an error object may break every formatter
        return f"{type(error).__name__} (its traceback cannot be shown: {type(second).__name__})\n"


def _response_of(error):
    """
    Returns status and Retry-After of the HTTP response that an exception reports, if any. urllib has `code`, requests
    and httpx have a response with `status_code`, aiohttp has `status`, and botocore has a dict.
    """
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
    except Exception:  # attributes are foreign code
        return {}


def _types_of(error):
    """Names of the exception's class and its base classes with their modules, nearest first."""
    return [_name_of(kind) for kind in type.__dict__["__mro__"].__get__(type(error))[:_TYPES] if kind is not object]


def _name_of(kind):
    try:
        module, name = kind.__module__, kind.__qualname__
        whole = name if module == "builtins" else f"{module}.{name}"
        return whole.encode("utf-8", "replace").decode()[:_TYPE_CHARS]
    except Exception:  # a metaclass is foreign code
        return "?"


def _is_of_walls(error):
    """True for errors that a blocked connection causes: unknown name, no route, or connection refused."""
    no_name, no_way = isinstance(error, socket.gaierror), (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ECONNREFUSED)
    return no_name or (isinstance(error, OSError) and error.errno in no_way)


def _chain(error):
    """The error, its cause or context, their causes, and so on."""
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
