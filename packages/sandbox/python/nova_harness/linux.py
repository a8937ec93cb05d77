"""Linux system calls that Python lacks. The numbers used here are the same on every architecture, except `_CLONE`."""

import contextlib
import ctypes
import errno
import os
import signal
import struct
import sys

NEWNS, NEWIPC, NEWPID, NEWNET = 0x00020000, 0x08000000, 0x20000000, 0x40000000
NOSUID, NODEV, BIND, REC, PRIVATE = 2, 4, 4096, 16384, 1 << 18
PDEATHSIG, DUMPABLE, CHILD_SUBREAPER, NO_NEW_PRIVS = 1, 4, 36, 38

_CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220}
_OPEN_TREE, _MOUNT_SETATTR = 428, 442
_HERE, _EMPTY_PATH, _RECURSIVE, _CLONE_TREE = -100, 0x1000, 0x8000, 1
_READ_ONLY = struct.pack("4Q", 1, 0, 0, 0)
_CAPABILITY_VERSION_3 = 0x20080522

libc = ctypes.CDLL(None, use_errno=True)
_libc_holding_the_lock = ctypes.PyDLL(None, use_errno=True)
# Each process that runs code makes these calls. So they are looked up here, before the processes are forked.
if sys.platform == "linux":
    _word, _text = ctypes.c_ulong, ctypes.c_char_p
    libc.kill.argtypes = (ctypes.c_int, ctypes.c_int)
    libc.unshare.argtypes = (ctypes.c_int,)
    libc.capset.argtypes = (_text, _text)
    libc.prctl.argtypes = (ctypes.c_int, _word, _word, _word, _word)
    libc.mount.argtypes = (_text, _text, _text, _word, _text)


class CallFailed(OSError):
    """`call` is the name of the failed system call."""

    def __init__(self, number, call):
        super().__init__(number, os.strerror(number), call)
        self.call = call


def is_unsupported(error):
    """True if the system lacks a call or always forbids it. Every other error may be a temporary shortage, which code
    in another sandbox can cause."""
    return isinstance(error, CallFailed) and error.errno in (errno.ENOSYS, errno.EPERM, errno.EINVAL)


@contextlib.contextmanager
def where_supported():
    """Ignores calls that the system does not support. A shortage is still an error."""
    try:
        yield
    except CallFailed as error:
        if not is_unsupported(error):
            raise


def as_message(error):
    """Turns an OSError into a message between harness processes, which `as_error` reads."""
    return {"failed": error.errno or errno.EAGAIN, "call": getattr(error, "call", None)}


def as_error(message):
    number, call = message["failed"], message["call"]
    return CallFailed(number, call) if call else OSError(number, os.strerror(number))


def named(function, *arguments):
    """Calls a function of Python and adds its name to an error."""
    try:
        return function(*arguments)
    except OSError as error:
        raise CallFailed(error.errno, function.__name__) from None


def checked(result, what):
    if result < 0:
        raise CallFailed(ctypes.get_errno(), what)
    return result


def call(name, number, *values):
    """Makes a system call. Passes integers as machine words and bytes as addresses."""
    words = [value if isinstance(value, bytes) else ctypes.c_long(value) for value in values]
    return checked(libc.syscall(ctypes.c_long(number), *words), name)


def prctl(option, value):
    if sys.platform == "linux":
        checked(libc.prctl(option, value, 0, 0, 0), "prctl")


def fork(namespaces):
    """Forks like os.fork, but gives the child new namespaces. The system call bypasses the C library."""
    machine = os.uname().machine
    if sys.platform != "linux" or machine not in _CLONE:
        raise CallFailed(errno.ENOSYS, "clone")
    zero = ctypes.c_long(0)
    flags = ctypes.c_long(namespaces)
    number = ctypes.c_long(_CLONE[machine])
    return checked(_libc_holding_the_lock.syscall(number, flags, zero, zero, zero, zero), "clone")


def kill_all_others():
    """Kills all processes of the pid namespace, except this one and pid 1. False if none of them was left."""
    is_done = libc.kill(-1, signal.SIGKILL) == 0
    if not is_done and ctypes.get_errno() != errno.ESRCH:
        checked(-1, "kill")
    return is_done


def unshare(namespaces):
    checked(libc.unshare(namespaces), "unshare")


def drop_capabilities():
    """Drops all capabilities. Without another user, code stays root, but cannot mount, trace or send arbitrary
    signals."""
    checked(libc.capset(struct.pack("2I", _CAPABILITY_VERSION_3, 0), bytes(24)), "capset")


def mount(source, target, kind, flags=0, options=None):
    encoded = [part and part.encode(errors="surrogateescape") for part in (source, target, kind)]
    checked(libc.mount(*encoded, flags, options and options.encode()), f"mount {target}")


def forbid_writing():
    """Makes all current mounts of this process read-only. Devices stay writable, and later mounts are not affected."""
    call("mount_setattr", _MOUNT_SETATTR, _HERE, b"/", _RECURSIVE, _READ_ONLY, len(_READ_ONLY))


def detached(path, is_read_only=False):
    """Opens a folder as the root of a detached tree: from its descriptor, `..` does not lead out of it."""
    tree = call("open_tree", _OPEN_TREE, _HERE, os.fsencode(path), _CLONE_TREE | os.O_CLOEXEC)
    if is_read_only:
        call("mount_setattr", _MOUNT_SETATTR, tree, b"", _EMPTY_PATH, _READ_ONLY, len(_READ_ONLY))
    return tree
