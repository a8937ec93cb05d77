"""The system calls of Linux for which Python has no function. Those by number have the same one on every machine."""

import contextlib
import ctypes
import errno
import os
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


class CallFailed(OSError):
    """`call`: the name of the system call that failed."""

    def __init__(self, number, call):
        super().__init__(number, os.strerror(number), call)
        self.call = call


def is_unsupported(error):
    """
    Whether the system does not have a call or forbids it. That never changes. Every other error may be a shortage, which
    code of another sandbox can cause.
    """
    return isinstance(error, CallFailed) and error.errno in (errno.ENOSYS, errno.EPERM, errno.EINVAL)


@contextlib.contextmanager
def where_supported():
    """Leaves out what the system does not support. A shortage is still an error."""
    try:
        yield
    except CallFailed as error:
        if not is_unsupported(error):
            raise


def as_message(error):
    """An OSError as processes of the harness tell it to each other; `as_error` reads it."""
    return {"failed": error.errno or errno.EAGAIN, "call": getattr(error, "call", None)}


def as_error(message):
    number, call = message["failed"], message["call"]
    return CallFailed(number, call) if call else OSError(number, os.strerror(number))


def named(function, *arguments):
    """A system call of Python's, whose error then has a name."""
    try:
        return function(*arguments)
    except OSError as error:
        raise CallFailed(error.errno, function.__name__) from None


def checked(result, what):
    if result < 0:
        raise CallFailed(ctypes.get_errno(), what)
    return result


def call(name, number, *values):
    """Integers as the system's own words, bytes as addresses."""
    words = [value if isinstance(value, bytes) else ctypes.c_long(value) for value in values]
    return checked(libc.syscall(ctypes.c_long(number), *words), name)


def prctl(option, value):
    if sys.platform == "linux":
        zero = ctypes.c_ulong(0)
        checked(libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero), "prctl")


def fork(namespaces):
    """Like os.fork, but for the namespaces; the C library does not hear of it."""
    machine = os.uname().machine
    if sys.platform != "linux" or machine not in _CLONE:
        raise CallFailed(errno.ENOSYS, "clone")
    zero = ctypes.c_long(0)
    flags = ctypes.c_long(namespaces)
    number = ctypes.c_long(_CLONE[machine])
    return checked(_libc_holding_the_lock.syscall(number, flags, zero, zero, zero, zero), "clone")


def unshare(namespaces):
    checked(libc.unshare(ctypes.c_int(namespaces)), "unshare")


def drop_capabilities():
    """Still root where no other user exists, but a root that may not mount, trace or send signals at will."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    checked(libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")


# --- mounts ---------------------------------------------------------------------------------------


def mount(source, target, kind, flags=0, options=None):
    encoded = [None if part is None else os.fsencode(part) for part in (source, target, kind)]
    data = options.encode() if options else None
    checked(libc.mount(*encoded, ctypes.c_ulong(flags), data), f"mount {target}")


def forbid_writing():
    """To all files of this process's mounts; devices can still be written to. What is mounted later is as it says."""
    call("mount_setattr", _MOUNT_SETATTR, _HERE, b"/", _RECURSIVE, _READ_ONLY, len(_READ_ONLY))


def detached(path, is_read_only=False):
    """A folder as the root of a tree that hangs nowhere: for whoever gets the descriptor, `..` leads back to it."""
    tree = call("open_tree", _OPEN_TREE, _HERE, os.fsencode(path), _CLONE_TREE | os.O_CLOEXEC)
    if is_read_only:
        call("mount_setattr", _MOUNT_SETATTR, tree, b"", _EMPTY_PATH, _READ_ONLY, len(_READ_ONLY))
    return tree
