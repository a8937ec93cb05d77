"""
What the harness keeps on disk, below its root. The code itself may come from elsewhere, already imported.

    harness.py                         the code, as uploaded
    inputs/<name>                      what an attach brings: a header line, then the rest; unlinked when opened
    claims/<link>/<step>-<attempt>/    made exclusively: whoever makes it may begin the code, nobody else ever
        outcome                        the message that tells what became of it
        out/                           files that the code's process writes
    claims/<link>/tombstone            no code may begin at this link any more
    claims/<link>/log                  while its code runs: a header line, then the end of what it has printed
    blobs/<sha256>                     values that are here already, whoever brought them
    answers/<need>                     what the adapter answered to a need
    lib/                               the workflow's own modules
    execution                          the id of the one whose code runs here
    ended/<execution>                  of those before it: none of their code begins here any more
"""

import contextlib
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
_MOST_RESULT_BYTES = 60_000_000  # the adapter takes a little more


def socket_path(root):
    """sun_path holds 104 bytes or little more, and without isolation the root may be a long path."""
    path = os.path.join(root, "socket")
    if len(path.encode()) <= _LONGEST_SOCKET_PATH:
        return path
    return f"/tmp/nova-{hashlib.sha256(root.encode()).hexdigest()[:24]}.sock"


def is_hash(text):
    return isinstance(text, str) and _SHA256.fullmatch(text) is not None


def _finite(text):
    """What JSON cannot write, the adapter could not read."""
    number = float(text)
    if math.isfinite(number):
        return number
    raise ValueError(f"{text} is not a JSON number")


class DamagedResult(Exception):
    """The code's process left something that is not a result: it reached into its own harness."""


class LargeResult(DamagedResult):
    """Large values are files beside it; only many small ones make it long."""


class Store:
    def __init__(self, root):
        self.root, self.blobs = root, None
        for name in ("ended", "inputs", *_OF_ONE_EXECUTION):
            os.makedirs(self.path(name), mode=0o700, exist_ok=True)

    def open_through(self, walls):
        """Code gets blobs as open files: those must not lead it to anything else."""
        before, self.blobs = self.blobs, walls.show_files(self.path("blobs"))
        if before is not None:
            os.close(before)

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def open_input(self, name):
        """
        The header, and the open file behind it. What follows the header is one node's own: it never comes into this
        process's memory, which serves later executions too.
        """
        file = open(self._input_path(name), "rb", buffering=0)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            end = view.find(b"\n")
            if end < 0:
                raise ValueError("the input has no header line")
            header = json.loads(view[:end])
        file.seek(end + 1)
        return header, file

    def drop_input(self, name):
        """From here on it has no name any more."""
        os.unlink(self._input_path(name))

    def _input_path(self, name):
        return self.path("inputs", os.path.basename(name))

    # --- executions -------------------------------------------------------------------------------

    def execution(self):
        """The id of the one whose code runs here; None before the first."""
        try:
            with open(self.path("execution")) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def has_ended(self, execution):
        return os.path.exists(self._ended_path(execution))

    def begin_execution(self, execution):
        """Nothing of the one before is left, and it cannot come back."""
        before = self.execution()
        if before is not None:
            os.close(os.open(self._ended_path(before), os.O_CREAT | os.O_WRONLY, 0o600))
            for name in _OF_ONE_EXECUTION:
                shutil.rmtree(self.path(name))
                os.makedirs(self.path(name), mode=0o700)
        self._replace(self.path("execution"), execution.encode())

    def _ended_path(self, execution):
        return self.path("ended", hashlib.sha256(execution.encode()).hexdigest()[:40])

    # --- claims -----------------------------------------------------------------------------------

    def claim(self, claim):
        """True for exactly one caller per claim, for as long as the sandbox lives."""
        os.makedirs(os.path.dirname(self._claim_path(claim)), mode=0o700, exist_ok=True)
        try:
            os.mkdir(self._claim_path(claim), 0o700)
        except FileExistsError:
            return False
        return True

    def unclaim(self, claim):
        """By whoever has made it, when nothing has begun after all."""
        shutil.rmtree(self._claim_path(claim), ignore_errors=True)

    def bury(self, link):
        os.makedirs(self._link_path(link), mode=0o700, exist_ok=True)
        os.close(os.open(os.path.join(self._link_path(link), "tombstone"), os.O_CREAT | os.O_WRONLY, 0o600))

    def is_buried(self, link):
        return os.path.exists(os.path.join(self._link_path(link), "tombstone"))

    def make_out(self, claim, owner):
        """A folder for the files of the code's process."""
        path = os.path.join(self._claim_path(claim), "out")
        os.mkdir(path, 0o700)
        if owner is not None:
            os.chown(path, owner, owner)
        return path

    def keep_outcome(self, claim, data):
        self._replace(self._outcome_path(claim), data)

    def show_log(self, claim, size, tail):
        """`size`: of all that was printed, of which `tail` is the end."""
        header = json.dumps({"step": claim.step, "attempt": claim.attempt, "size": size})
        self._replace(self._log_path(claim), header.encode() + b"\n" + tail)

    def hide_log(self, claim):
        self._unlink(self._log_path(claim))

    def _replace(self, path, data):
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.replace(path + ".new", path)

    def outcome(self, claim):
        """(path below the root, size) of a finished claim's outcome; None when there is none."""
        path = self._outcome_path(claim)
        try:
            return os.path.relpath(path, self.root), os.stat(path).st_size
        except FileNotFoundError:
            return None

    def read_result(self, claim):
        path = os.path.join(self._claim_path(claim), "out", "result")
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise DamagedResult(str(error)) from error
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise DamagedResult("not a regular file")
            data = file.read(_MOST_RESULT_BYTES + 1)  # it may still be growing
        if len(data) > _MOST_RESULT_BYTES:
            raise LargeResult
        try:
            return json.loads(data, parse_constant=_finite, parse_float=_finite)
        except (ValueError, RecursionError, MemoryError) as error:
            raise DamagedResult(str(error)) from error

    def adopt_blobs(self, claim):
        """The code's process is dead: what it wrote cannot change any more, and later nodes may use it."""
        for entry in os.scandir(os.path.join(self._claim_path(claim), "out")):
            if is_hash(entry.name) and entry.is_file(follow_symlinks=False):
                os.replace(entry.path, self.path("blobs", entry.name))
        self.drop_out(claim)

    def drop_out(self, claim):
        shutil.rmtree(os.path.join(self._claim_path(claim), "out"), ignore_errors=True)

    def _claim_path(self, claim):
        return os.path.join(self._link_path(claim.link), f"{claim.step}-{claim.attempt}")

    def _outcome_path(self, claim):
        return os.path.join(self._claim_path(claim), "outcome")

    def _log_path(self, claim):
        return os.path.join(self._link_path(claim.link), "log")

    def _link_path(self, link):
        return self.path("claims", hashlib.sha256(link.encode()).hexdigest()[:40])

    # --- blobs and answers ------------------------------------------------------------------------

    def has_blob(self, sha256, bytes, type):
        try:
            return os.stat(self.path("blobs", sha256)).st_size == bytes
        except FileNotFoundError:
            return False

    def open_blob(self, sha256, size):
        """The file once it is complete, else None. Whoever reads it checks the hash."""
        return self._open_when(sha256, lambda found, _: found.st_size == size, self.blobs)

    def drop_blob(self, sha256):
        self._unlink(self.path("blobs", sha256))

    def open_answer(self, need):
        """Uploads are not atomic: an answer ends with a newline, and has no other."""
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
