"""
Ways to a network that no namespace closes, shut by a filter of system calls: sockets of families that the run's own
network does not hold (to the machine below, for example), the asynchronous interface that makes sockets unseen, and
the calls that enter other namespaces.
"""

import ctypes
import errno
import os
import socket
import struct

_PR_SET_SECCOMP, _FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _ANSWER = 0x20, 0x15, 0x35, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_OTHER_CONVENTION = 0x40000000  # x86-64 knows its calls by second numbers too
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_NETLINK", 16))
_MACHINES = {
    "x86_64": (0xC000003E, {"socket": 41, "unshare": 272, "setns": 308}),
    "aarch64": (0xC00000B7, {"socket": 198, "unshare": 97, "setns": 268}),
    "riscv64": (0xC00000F3, {"socket": 198, "unshare": 97, "setns": 268}),
}
_IO_URING_SETUP = 425


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def shut():
    """For this process and all that it starts. Needs that no rights can be gained any more (PR_SET_NO_NEW_PRIVS)."""
    code = b"".join(_program(*_MACHINES[os.uname().machine]))
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_FILTER), ctypes.byref(program)) != 0:
        raise OSError(ctypes.get_errno(), "no filter of system calls can be set")


def _program(machine, calls):
    """Instructions; jumps count those that they leave out."""
    refuse = _step(_ANSWER, _REFUSE | errno.EPERM)
    yield _step(_LOAD, _MACHINE)
    yield _step(_EQUAL, machine, then=1)
    yield refuse
    yield _step(_LOAD, _NUMBER)
    yield _step(_AT_LEAST, _OTHER_CONVENTION, otherwise=1)
    yield refuse
    for number in (calls["unshare"], calls["setns"], _IO_URING_SETUP):
        yield _step(_EQUAL, number, otherwise=1)
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
