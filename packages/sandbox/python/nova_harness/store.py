"""
The harness's files, below its root. The harness itself may be imported from elsewhere.

    harness.py                         the harness, as uploaded
    inputs/<name>                      the input of an attach: a header line and a body; unlinked when opened
    claims/<link>/<step>-<attempt>/    created exclusively: only its creator may start the code
        outcome                        the message with the outcome
        out/                           files that the code's process writes
    claims/<link>/tombstone            forbids code at this link
    claims/<link>/log                  while code runs: a header line and the end of its output
    blobs/<sha256>                     values that are in the sandbox already
    answers/<need>                     the adapter's answer to a need
    lib/                               the workflow's own modules
    execution                          the id of the current execution
    ended/<execution>                  marks previous executions, whose code must not start any more
"""

import contextlib
import functools
import hashlib
import json
import math
import mmap
import os
import re
import shutil
import stat

_SHA256 = re.compile(r"[0-9a-f]{64}")
_LONGEST_SOCKET_PATH = 100
_OF_ONE_EXECUTION = ("claims", "blobs", "answers")
_OUT = "out"
_MOST_RESULT_BYTES = 60_000_000  # The adapter's own limit for a result is a little higher.


def socket_path(root):
    """Returns a path for the daemon's socket. The system limits such a path to about 104 bytes, and a local root may be
    longer."""
    path = os.path.join(root, "socket")
    if len(path.encode()) <= _LONGEST_SOCKET_PATH:
        return path
    return f"/tmp/nova-{hashlib.sha256(root.encode()).hexdigest()[:24]}.sock"


def is_hash(text):
    return isinstance(text, str) and _SHA256.fullmatch(text) is not None


@functools.lru_cache(maxsize=16)
def _name_of_link(link):
    return hashlib.sha256(link.encode()).hexdigest()[:40]


def _empty_folder(path):
    """Empties a folder of the harness. The folder has few levels, except below the folders in which code wrote."""
    with os.scandir(path) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
            elif entry.name == _OUT:
                _remove_folder(entry.path)
            else:
                _empty_folder(entry.path)
                os.rmdir(entry.path)


def _remove_folder(path):
    """Removes a folder in which code may have written. For a few plain files, `rmtree` makes five times as many system
    calls as this function."""
    try:
        for name in os.listdir(path):
            os.unlink(f"{path}/{name}")
        os.rmdir(path)
    except OSError:
        shutil.rmtree(path, ignore_errors=True)


def _finite(text):
    """Parses a float. Refuses numbers that JSON cannot write, because the adapter could not parse them."""
    number = float(text)
    if math.isfinite(number):
        return number
    raise ValueError(f"{text} is not a JSON number")


class DamagedResult(Exception):
    """Raised if the code's process wrote an invalid result, because then the code has manipulated the harness."""


class LargeResult(DamagedResult):
    """Raised if the small values of a result are too large together. Large values are in separate files."""


class Store:
    def __init__(self, root):
        self.root, self.blobs, self._execution = root, None, None
        for name in ("ended", "inputs", *_OF_ONE_EXECUTION):
            os.makedirs(self.path(name), mode=0o700, exist_ok=True)

    def open_through(self, walls):
        """Opens the folder of blobs as the isolation shows it, so that code cannot reach other files through a blob's
        descriptor."""
        before, self.blobs = self.blobs, walls.show_files(self.path("blobs"))
        if before is not None:
            os.close(before)

    def path(self, *parts):
        return "/".join((self.root, *parts))

    def open_input(self, name):
        """Opens an input. Returns its header and the file, positioned after the header. The body holds data of one
        node, and this process never reads it, because the process also serves later executions."""
        file = open(self._input_path(name), "rb", buffering=0)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            end = view.find(b"\n")
            if end < 0:
                raise ValueError("the input has no header line")
            header = json.loads(view[:end])
        file.seek(end + 1)
        return header, file

    def drop_input(self, name):
        """Unlinks an input, which stays readable through its open file."""
        os.unlink(self._input_path(name))

    def _input_path(self, name):
        return self.path("inputs", os.path.basename(name))

    def execution(self):
        """Returns the id of the current execution; None before the first. An earlier daemon of the sandbox may have
        begun it."""
        if self._execution is None:
            with contextlib.suppress(FileNotFoundError), open(self.path("execution")) as file:
                self._execution = file.read()
        return self._execution

    def has_ended(self, execution):
        return os.path.exists(self._ended_path(execution))

    def begin_execution(self, execution):
        """Removes all files of the previous execution, marks that execution as ended, and records the new execution."""
        before = self.execution()
        if before is not None:
            os.close(os.open(self._ended_path(before), os.O_CREAT | os.O_WRONLY, 0o600))
            for name in _OF_ONE_EXECUTION:
                _empty_folder(self.path(name))
        self._replace(self.path("execution"), execution.encode())
        self._execution = execution

    def _ended_path(self, execution):
        return self.path("ended", hashlib.sha256(execution.encode()).hexdigest()[:40])

    def claim(self, claim):
        """Makes a claim. Returns true to exactly one caller for each claim, as long as the sandbox lives."""
        with contextlib.suppress(FileExistsError):
            os.mkdir(self._link_path(claim.link), 0o700)
        try:
            os.mkdir(self._claim_path(claim), 0o700)
        except FileExistsError:
            return False
        return True

    def unclaim(self, claim):
        """Removes a claim whose code did not start. Only its creator may call this."""
        shutil.rmtree(self._claim_path(claim), ignore_errors=True)

    def forbid(self, link):
        os.makedirs(self._link_path(link), mode=0o700, exist_ok=True)
        os.close(os.open(os.path.join(self._link_path(link), "tombstone"), os.O_CREAT | os.O_WRONLY, 0o600))

    def is_forbidden(self, link):
        return os.path.exists(os.path.join(self._link_path(link), "tombstone"))

    def make_out(self, claim, owner):
        """Creates the folder for files of the code's process."""
        path = os.path.join(self._claim_path(claim), _OUT)
        os.mkdir(path, 0o700)
        if owner is not None:
            os.chown(path, owner, owner)
        return path

    def keep_outcome(self, claim, data):
        self._replace(self._outcome_path(claim), data)

    def show_log(self, claim, size, tail):
        """Writes the running log. `size` counts all printed bytes; `tail` is their end."""
        header = json.dumps({"step": claim.step, "attempt": claim.attempt, "size": size})
        self._replace(self._log_path(claim), header.encode() + b"\n" + tail)

    def hide_log(self, claim):
        self._unlink(self._log_path(claim))

    def _replace(self, path, data):
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.replace(path + ".new", path)

    def outcome(self, claim):
        """Returns (path relative to the root, size) of a claim's outcome; None if there is none."""
        path = self._outcome_path(claim)
        try:
            return os.path.relpath(path, self.root), os.stat(path).st_size
        except FileNotFoundError:
            return None

    def read_result(self, claim):
        path = os.path.join(self._claim_path(claim), _OUT, "result")
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise DamagedResult(str(error)) from error
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise DamagedResult("not a regular file")
            # Reads at most one byte more than allowed, because the file may still grow.
            data = file.read(_MOST_RESULT_BYTES + 1)
        if len(data) > _MOST_RESULT_BYTES:
            raise LargeResult
        try:
            return json.loads(data, parse_constant=_finite, parse_float=_finite)
        except (ValueError, RecursionError, MemoryError) as error:
            raise DamagedResult(str(error)) from error

    def adopt_blobs(self, claim):
        """Moves blobs of the dead process to the sandbox's blobs. No code can change them any more, so later nodes may
        use them."""
        for entry in os.scandir(os.path.join(self._claim_path(claim), _OUT)):
            if is_hash(entry.name) and entry.is_file(follow_symlinks=False):
                os.replace(entry.path, self.path("blobs", entry.name))
        self.drop_out(claim)

    def drop_out(self, claim):
        _remove_folder(os.path.join(self._claim_path(claim), _OUT))

    def _claim_path(self, claim):
        return os.path.join(self._link_path(claim.link), f"{claim.step}-{claim.attempt}")

    def _outcome_path(self, claim):
        return os.path.join(self._claim_path(claim), "outcome")

    def _log_path(self, claim):
        return os.path.join(self._link_path(claim.link), "log")

    def _link_path(self, link):
        return self.path("claims", _name_of_link(link))

    def has_blob(self, sha256, bytes, type):
        try:
            return os.stat(self.path("blobs", sha256)).st_size == bytes
        except FileNotFoundError:
            return False

    def open_blob(self, sha256, size):
        """Opens a blob of the sandbox. Returns its descriptor, or None if the file is not complete. The reader must
        check the hash."""
        return self._open_when(sha256, lambda found, _: found.st_size == size, self.blobs)

    def drop_blob(self, sha256):
        self._unlink(self.path("blobs", sha256))

    def open_answer(self, need):
        """Opens the answer to a need. Returns its descriptor, or None if the file is not complete: uploads are not
        atomic, so an answer ends with its only newline."""
        path = self.path("answers", need)
        fd = self._open_when(path, lambda found, fd: found.st_size > 0 and os.pread(fd, 1, found.st_size - 1) == b"\n")
        if fd is not None:
            self._unlink(path)
        return fd

    def _open_when(self, path, is_complete, folder=None):
        try:
            fd = os.open(path, os.O_RDONLY, dir_fd=folder)
        except FileNotFoundError:
            return None
        if is_complete(os.fstat(fd), fd):
            return fd
        os.close(fd)
        return None

    def _unlink(self, path):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
