"""A seccomp filter for system calls that escape namespaces or limits: sockets of other families (for example to the
host), io_uring, which creates sockets unseen by filters, calls that create or enter namespaces, kernel keys, memory
that no limit counts, and the clocks of the init. These clocks also count the time that the init worked for earlier
executions."""

import ctypes
import errno
import functools
import os
import socket
import struct

from . import linux

_SECCOMP, _SET_FILTER, _WITH_LISTENER = {"x86_64": 317}.get(os.uname().machine, 277), 1, 8
_LOAD, _AND, _EQUAL, _AT_LEAST, _ANSWER = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _REFUSE, _ASK = 0x7FFF0000, 0x00050000, 0x7FC00000
_OTHER_CONVENTION = 0x40000000  # The second set of call numbers on x86-64 (x32).
_NAMESPACES = 0x7E020000
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_NETLINK", 16))
# Each call with its number on x86-64, and on ARM and other architectures.
_CALLS = (
    "socket 41 198, clone 56 220, unshare 272 97, setns 308 268, keyctl 250 219, add_key 248 217, "
    "request_key 249 218, bpf 321 280, perf_event_open 298 241, open_by_handle_at 304 265, "
    "userfaultfd 323 282, memfd_create 319 279, shmget 29 194, io_setup 206 0, connect 42 203, listen 50 201, "
    "sendto 44 206, sendmsg 46 211, sendmmsg 307 269, clock_gettime 228 113, clock_nanosleep 230 115, "
    "timer_create 222 107"
)
_X86_64, _OTHERS = ({row.split()[0]: int(row.split()[place]) for row in _CALLS.split(", ")} for place in (1, 2))
_MACHINES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _OTHERS), "riscv64": (0xC00000F3, _OTHERS)}
_IO_URING_SETUP, _CLONE3, _MEMFD_SECRET = 425, 435, 447

# Kernel keys outlive their process and belong to a user, not to a node. The other calls are the kernel's widest attack
# surfaces.
_FORBIDDEN = "unshare setns keyctl add_key request_key bpf perf_event_open open_by_handle_at userfaultfd".split()
# No limit counts the memory that memfd_create and shmget allocate. Programs that lack these calls use files in
# /dev/shm, whose size is limited. io_setup reserves requests, of which the whole machine has a limited number.
_ABSENT = ("memfd_create", "shmget", "io_setup")
_ASKED = ("connect", "listen")
# These calls take a clock as their first argument. The clocks of pid 1 are the 32-bit numbers from `_FIRST_OF_INIT` up to
# `_AFTER_INIT`.
_TIMED = ("clock_gettime", "clock_nanosleep", "timer_create")
_FIRST_OF_INIT, _AFTER_INIT = 0xFFFFFFF0, 0xFFFFFFF3
# With the flag MSG_FASTOPEN, a call that sends data also connects. `_SENDING` names these calls, each with the index of
# the argument that holds its flags.
_FAST_OPEN = 0x20000000
_SENDING = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


@functools.cache
def filter_of(asks):
    """Builds the filter once, in the parent of the processes that need it."""
    if os.uname().machine not in _MACHINES:
        raise linux.CallFailed(errno.ENOSYS, "seccomp")
    return b"".join(_program(*_MACHINES[os.uname().machine], asks))


def shut(asks=False):
    """Installs the filter for this process and its children. Requires PR_SET_NO_NEW_PRIVS. With `asks`, every `connect`
    and `listen` waits for an answer through the returned descriptor (guard.py)."""
    code = filter_of(asks)
    program = _Program(len(code) // 8, code)
    flags = ctypes.c_long(_WITH_LISTENER if asks else 0)
    answer = linux.libc.syscall(ctypes.c_long(_SECCOMP), ctypes.c_long(_SET_FILTER), flags, ctypes.byref(program))
    return linux.checked(answer, "seccomp")


def is_listen(number):
    return number == _MACHINES[os.uname().machine][1]["listen"]


def _program(machine, calls, asks):
    """Yields the filter's instructions. A jump counts the instructions that it skips."""
    refuse = _step(_ANSWER, _REFUSE | errno.EPERM)
    is_absent = _step(_ANSWER, _REFUSE | errno.ENOSYS)
    yield _step(_LOAD, _MACHINE)
    yield _step(_EQUAL, machine, then=1)
    yield refuse
    yield _step(_LOAD, _NUMBER)
    yield _step(_AT_LEAST, _OTHER_CONVENTION, otherwise=1)
    yield refuse
    for number in (_IO_URING_SETUP, *(calls[name] for name in _FORBIDDEN)):
        yield _step(_EQUAL, number, otherwise=1)
        yield refuse
    for number in (_CLONE3, _MEMFD_SECRET, *(calls[name] for name in _ABSENT)):
        yield _step(_EQUAL, number, otherwise=1)
        yield is_absent
    for name in _ASKED if asks else ():
        yield _step(_EQUAL, calls[name], otherwise=1)
        yield _step(_ANSWER, _ASK)
    for name, argument in _SENDING.items():
        yield _step(_EQUAL, calls[name], otherwise=5)
        yield _step(_LOAD, _FIRST_ARGUMENT + 8 * argument)
        yield _step(_AND, _FAST_OPEN)
        yield _step(_EQUAL, 0, otherwise=1)
        yield _step(_ANSWER, _ALLOW)
        yield _step(_ANSWER, _REFUSE | errno.EOPNOTSUPP)
    for name in _TIMED:
        yield _step(_EQUAL, calls[name], otherwise=5)
        yield _step(_LOAD, _FIRST_ARGUMENT)
        yield _step(_AT_LEAST, _FIRST_OF_INIT, otherwise=1)
        yield _step(_AT_LEAST, _AFTER_INIT, otherwise=1)
        yield _step(_ANSWER, _ALLOW)
        yield _step(_ANSWER, _REFUSE | errno.EINVAL)
    # A filter cannot read the flags of clone3, so clone3 always fails. Programs then use clone.
    yield _step(_EQUAL, calls["clone"], otherwise=5)
    yield _step(_LOAD, _FIRST_ARGUMENT)
    yield _step(_AND, _NAMESPACES)
    yield _step(_EQUAL, 0, otherwise=1)
    yield _step(_ANSWER, _ALLOW)
    yield refuse
    yield _step(_EQUAL, calls["socket"], then=1)
    yield _step(_ANSWER, _ALLOW)
    yield _step(_LOAD, _FIRST_ARGUMENT)
    for family in _FAMILIES:
        yield _step(_EQUAL, family, otherwise=1)
        yield _step(_ANSWER, _ALLOW)
    yield _step(_ANSWER, _REFUSE | errno.EAFNOSUPPORT)


def _step(code, value, then=0, otherwise=0):
    return struct.pack("=HBBI", code, then, otherwise, value)
