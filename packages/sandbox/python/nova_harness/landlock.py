"""A second restriction of file access, on kernels with Landlock (landlock(7)). It lists the folders that code may open,
so that even a descriptor that leads outside opens nothing there. From version 6 it also blocks signals to outside
processes and connections to their abstract sockets."""

import ctypes
import errno
import os
import struct

from . import linux

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION, _BENEATH = 1, 1
# `_MOVING` is the first version that can allow a process to move files between folders. `_SCOPES` is the first version
# that can block signals and abstract sockets.
_MOVING, _SCOPES = 2, 6
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 14))
_TRUNCATE, _TRUNCATING = 1 << 14, 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3

_add_rule = linux.libc["syscall"]
_add_rule.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)


def version_here():
    """Returns the version of Landlock. None if the system has no Landlock, or has a version that lets no process move
    files between folders."""
    try:
        version = linux.call("landlock_create_ruleset", _CREATE, 0, 0, _ASK_VERSION)
    except linux.CallFailed as error:
        if linux.is_unsupported(error) or error.errno == errno.EOPNOTSUPP:
            return None
        raise
    return version if version >= _MOVING else None


class Landlock:
    """Rules for the code's process. `shut` puts them into force permanently."""

    def __init__(self, version, readable, writable):
        """`readable` and `writable` are paths of folders."""
        reading = _EXECUTE | _READ | _LIST
        self._all = reading | _WRITE | _CHANGE_FOLDERS | (_TRUNCATE if version >= _TRUNCATING else 0)
        scopes = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= _SCOPES else 0
        handled = struct.pack("=3Q", self._all, 0, scopes)
        self._rules = linux.call("landlock_create_ruleset", _CREATE, handled, len(handled) if scopes else 8, 0)
        for path in readable:
            try:
                # Read-only mounts already forbid the code to write, except to devices and /proc.
                self._allow_path(path, reading | _WRITE)
            except (FileNotFoundError, PermissionError):
                continue  # The code cannot open such a folder either.
        for path in writable:
            self._allow_path(path, self._all)

    def _allow_path(self, path, access):
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            self._allow(fd, access)
        finally:
            os.close(fd)

    def _allow(self, fd, access):
        added = _add_rule(_ADD, self._rules, _BENEATH, struct.pack("=Qi", access, fd), 0)
        linux.checked(added, "landlock_add_rule")

    def shut(self, out):
        """`out` is the descriptor of a further writable folder."""
        self._allow(out, self._all)
        linux.call("landlock_restrict_self", _RESTRICT, self._rules, 0)
        os.close(self._rules)
