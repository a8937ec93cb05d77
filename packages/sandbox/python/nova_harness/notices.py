"""Reads and answers system calls of a run's processes that the kernel holds for the guard, see seccomp_unotify(2)."""

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
    """A held system call. `task` is the id of the calling thread in this process's namespace."""

    id: int
    task: int
    call: int
    arguments: tuple


def receive(listener):
    """Returns the next call; None if its caller has died. Blocks if there is no call, so poll first."""
    buffer = bytearray(_NOTICE.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, buffer)
    except OSError:
        return None
    number, task, _, call, _, _, *arguments = _NOTICE.unpack(buffer)
    return Notice(number, task, call, tuple(arguments))


def is_waiting(listener, notice):
    """True if the caller still waits. Then data read before came from the caller, whose id cannot have been reused."""
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
    """
    Returns a copy of the caller's socket. Raises OSError with the caller's error if the descriptor is not a socket.
    """
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
