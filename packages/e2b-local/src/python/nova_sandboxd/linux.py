"""Linux calls that the standard library of Python 3.10 lacks."""

import ctypes
import fcntl
import os
import socket
import struct

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000

NOSUID, NODEV, NOEXEC, BIND, REC = 2, 4, 8, 4096, 16384

_DETACH = 2
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "armv7l": 218, "riscv64": 41, "ppc64le": 203, "s390x": 217}
_COLLAPSE = 25
_SIOCSIFFLAGS, _UP_AND_RUNNING = 0x8914, 0x41

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def unshare(flags):
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(fd, kind):
    _checked(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), "setns")


def mount(source, target, kind=None, flags=0, options=None):
    encoded = [None if part is None else part.encode() for part in (source, target, kind, options)]
    _checked(_libc.mount(*encoded[:3], ctypes.c_ulong(flags), encoded[3]), f"mount {target}")


def bind(source, target):
    """Mounts a folder at a second path, together with all mounts below it. The kernel refuses to leave out locked
    mounts."""
    mount(source, target, None, BIND | REC)


def enter_root(folder):
    """Makes a mounted folder the root of the file tree, and unmounts the old root. It does not use chroot, because
    after chroot code could find a way back to the old root."""
    os.chdir(folder)
    number = _SYS_PIVOT_ROOT[os.uname().machine]
    _checked(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", ctypes.c_int(_DETACH)), "umount the old root")
    os.chdir("/")


def _prctl(option, value):
    zero = ctypes.c_ulong(0)
    _checked(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero), "prctl")


def die_with_parent(signal):
    _prctl(_PR_SET_PDEATHSIG, signal)


def set_dumpable(dumpable):
    """Makes this process dumpable or not. If it is not, no process in the sandbox can trace it or open its files in
    /proc."""
    _prctl(_PR_SET_DUMPABLE, int(dumpable))


def adopt_orphans():
    """Makes this process the new parent of orphans, so that it can find and end them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def set_rights(start, end, rights):
    """Changes the rights of memory, unless the kernel forbids that. `rights` are written as in /proc/self/maps."""
    bits = sum(1 << bit for bit, right in enumerate("rwx") if right in rights)
    _libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(end - start), bits)


def join_pages(start, end):
    """Turns memory into huge pages, if the kernel can do that: it needs Linux 6.1 and free memory."""
    _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _COLLAPSE)


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        fcntl.ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _UP_AND_RUNNING))
