"""System calls of a run's processes that wait for another process's answer: the kernel's side, seccomp_unotify(2)."""

import contextlib
import fcntl
import os
import socket
import struct
from typing import NamedTuple

from . import linux

_RECEIVE, _ANSWER, _IS_WAITING, _ADD_DESCRIPTOR = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103
_NOTICE = struct.Struct("=QIIiIQ6Q")
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438
_IN_ITS_PLACE = 1


class Notice(NamedTuple):
    """One call. `task` is a thread, by its number here."""

    id: int
    task: int
    call: int
    arguments: tuple


def receive(listener):
    """None when the caller has died meanwhile. Waits where nobody has called, so look first."""
    buffer = bytearray(_NOTICE.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, buffer)
    except OSError:
        return None
    number, task, _, call, _, _, *arguments = _NOTICE.unpack(buffer)
    return Notice(number, task, call, tuple(arguments))


def is_waiting(listener, notice):
    """What was read of the caller before this is the caller's; a number of a dead task may be another's."""
    try:
        fcntl.ioctl(listener, _IS_WAITING, struct.pack("=Q", notice.id))
    except OSError:
        return False
    return True


def answer(listener, notice, error=0):
    with contextlib.suppress(OSError):  # the caller has died
        fcntl.ioctl(listener, _ANSWER, struct.pack("=QqiI", notice.id, 0, -error, 0))


def replace(listener, notice, place, fd):
    """Puts a copy of `fd` at the caller's descriptor `place`."""
    with open(f"/proc/{notice.task}/fdinfo/{place}") as about:
        flags = next(int(line.split()[1], 8) for line in about if line.startswith("flags:"))
    request = struct.pack("=QIIII", notice.id, _IN_ITS_PLACE, fd, place, flags & os.O_CLOEXEC)
    fcntl.ioctl(listener, _ADD_DESCRIPTOR, request)


def take_socket(notice, place):
    """The caller's socket. Raises the OSError that the caller deserves where it is none."""
    with open(f"/proc/{notice.task}/status") as status:
        process = next(int(line.split()[1]) for line in status if line.startswith("Tgid:"))
    pidfd = linux.call("pidfd_open", _PIDFD_OPEN, process, 0)
    try:
        return socket.socket(fileno=linux.call("pidfd_getfd", _PIDFD_GETFD, pidfd, place, 0))
    finally:
        os.close(pidfd)


def read_memory(notice, address, size):
    fd = os.open(f"/proc/{notice.task}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(fd, size, address)
    finally:
        os.close(fd)
