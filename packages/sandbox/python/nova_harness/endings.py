"""Outcomes of code that could not report its own. Each message is one sentence with the way out."""

import os
import signal

_MEMORY = "use less memory, or process the data in parts"


def _failure(message, kind="NodeFailed"):
    return {"type": "result", "result": {"status": "error", "class": kind, "message": message, "traceback": ""}}


def timed_out(seconds):
    shown = f"{seconds:g}"
    most = "at most 86400, of a prompt node 600"
    return _failure(f'ran longer than {shown} s - raise "timeout" ({most}) or make the code faster', "NodeTimeout")


def died(status):
    """`status` is that of os.wait; None if the whole process tree was killed from outside."""
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
    """`asks` is true if only the network guard is known to be missing."""
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
