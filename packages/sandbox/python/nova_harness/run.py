"""One claim while its code runs: who follows it, what it waits for, how long it may take, and what becomes of it."""

import contextlib
import fcntl
import json
import os
import time
from typing import NamedTuple

from . import endings, linux
from .needs import Needs, checked
from .store import DamagedResult, LargeResult, is_hash

INLINE_BYTES = 200_000  # a longer outcome is fetched as a file: Jupyter limits the rate of output
LOG_BYTES = 1 << 16
_LINE_BYTES = 1 << 12
_PIPE_BYTES = 1 << 16
_INSIDE_CHARACTERS = bytes(range(0x80, 0xC0))  # of UTF-8: none begins with one of these
_FREE_WAITING_SECONDS = 60.0
_BETWEEN_WEIGHINGS_SECONDS, _WEIGHINGS_SHARE = 0.1, 20
_BETWEEN_SHOWINGS_SECONDS, _SHOWINGS_SHARE = 0.25, 20


def kept_as_file(path, size):
    return {"type": "outcome", "path": path, "bytes": size}


class Claim(NamedTuple):
    link: str
    step: int
    attempt: int

    @classmethod
    def of(cls, header):
        return cls(header["link"], header["step"], header["attempt"])


class Run:
    def __init__(self, claim, process, store, limit_seconds, is_fit, is_last, weaker=None):
        """
        `is_fit`: another execution may come after this one. `is_last`: no other run of this one is to be expected.
        `weaker`: a sentence on walls that are missing.
        """
        self.claim, self.process, self.store, self.is_fit = claim, process, store, is_fit
        self.is_last, self.weaker = is_last, weaker
        self.has_begun, self.problem = False, "its process has died"
        self.limit_seconds = limit_seconds
        self.followers = []
        self.needs = Needs(store, self._tell)
        self.log, self.log_is_cut = bytearray(), False
        self.logged = self.shown = 0
        self.began = time.monotonic()
        self.deadline = self.began + limit_seconds
        self.waits_since, self.free_waiting = None, _FREE_WAITING_SECONDS
        self.weighed_next = self.began + _BETWEEN_WEIGHINGS_SECONDS
        self.shown_next = self.began + _BETWEEN_SHOWINGS_SECONDS
        self.is_complete = False
        self.told = None
        self.killed_as = self.protest = None
        self.on_end = []

    def begin(self, request, out, ahead):
        """Raises OSError where the code has not begun, and will not."""
        self.process.begin(request.fileno(), out)
        for blob in ahead:
            self.needs.ask({"blob": blob}, is_awaited=False)

    def follow(self, follower):
        """Open needs are announced again: whoever was asked before may be dead."""
        self.followers.append(follower)
        for announcement in self.needs.announcements():
            follower.tell(announcement)

    def _tell(self, message):
        for follower in self.followers:
            follower.tell(message)

    # --- while it runs ----------------------------------------------------------------------------

    def hear(self):
        """Messages of the code's process. False when there will be no more."""
        try:
            is_open = self.process.reader.fill()
            while (message := self.process.reader.take()) is not None:
                self._obey(message)
        except OSError:
            return False
        except (ValueError, RecursionError) as error:  # code that reaches for the harness's descriptors can say anything
            self.protest = str(error)
            self.kill("protest")
            return False
        return is_open

    def _obey(self, message):
        if not isinstance(message, dict):
            raise ValueError("it sent something that is no message")
        if "need" in message:
            if self.waits_since is not None:
                raise ValueError("it asked for something before it had an answer")
            self.needs.ask(checked(message["need"]), is_awaited=True)
            self.waits_since = time.monotonic()
            self.look()
        elif is_hash(message.get("damaged")):
            if self.needs.is_lost(message["damaged"]):
                self._answer({"error": "it arrived damaged again and again"})
            else:
                self._answer({"again": True})
        elif "complete" in message and not self.is_complete:
            self.is_complete = True
            if self.process.end():  # what the code has left running must not meet the next node
                self._conclude_early()
        elif "begun" in message and not self.has_begun:
            self.has_begun = True
        elif "failed" in message and not self.has_begun:
            self.problem = linux.as_error(message)
        elif "ready" not in message:
            raise ValueError("it sent a message that there is not")

    def look(self):
        """Hands over what has arrived since."""
        for kind, fd in self.needs.arrived():
            self._answer({kind: True}, [fd])
            os.close(fd)

    def _answer(self, message, files=()):
        waited = self._waited_for_free(time.monotonic())
        self.deadline += waited
        self.free_waiting -= waited
        self.waits_since = None
        self.process.tell(message, files)

    def listen(self):
        """Takes output. False at its end: then nothing of the process is left."""
        try:
            data = os.read(self.process.output, _PIPE_BYTES)
        except BlockingIOError:
            return True
        self._log(data)
        return bool(data)

    def _take_what_was_written(self):
        """What there is now, and no more: the pipe's size is the most that there can be."""
        with contextlib.suppress(BlockingIOError):
            self._log(os.read(self.process.output, _pipe_size(self.process.output)))

    def note(self, texts):
        """What the harness has to say about the code, among what it says itself."""
        for text in texts:
            self._log(f"[network] {text}\n".encode())

    def _log(self, data):
        self.log += data
        self.logged += len(data)
        if len(self.log) > 4 * LOG_BYTES:
            del self.log[:-LOG_BYTES]
            self.log_is_cut = True

    def seconds_left(self, now):
        """Waiting for values costs the code no time, up to a minute in all: who answers may be slow, or never come."""
        return None if self.killed_as else self.deadline + self._waited_for_free(now) - now

    def _waited_for_free(self, now):
        return 0.0 if self.waits_since is None else min(now - self.waits_since, self.free_waiting)

    def weigh(self, now):
        """Looks at its memory now and then: seldom enough that looking costs the code nothing."""
        if now < self.weighed_next or self.killed_as or not self.process.isolated:
            return
        if self.process.takes_too_much():
            self.kill("memory")
        took = time.monotonic() - now
        self.weighed_next = now + max(_BETWEEN_WEIGHINGS_SECONDS, _WEIGHINGS_SHARE * took)

    def show_in(self, now):
        """Seconds until its log is to be shown; None where nothing is new."""
        return None if self.shown == self.logged or self.told else self.shown_next - now

    def show(self, now):
        """Keeps the end of its log where readers find it: seldom enough that it costs the code nothing."""
        left = self.show_in(now)
        if left is None or left > 0:
            return
        self.shown = self.logged
        with contextlib.suppress(OSError):  # the disk is full; the outcome brings the log all the same
            self.store.show_log(self.claim, self.logged, self.log[-LOG_BYTES:])
        took = time.monotonic() - now
        self.shown_next = now + max(_BETWEEN_SHOWINGS_SECONDS, _SHOWINGS_SHARE * took)

    def kill(self, reason):
        """`reason`: "timeout", "memory", "stopped" or "protest". A result that is complete stands."""
        if not self.killed_as:
            self.killed_as = reason
            self.process.kill()

    # --- afterwards -------------------------------------------------------------------------------

    def _conclude_early(self):
        """Nobody has to wait for the burial, unless there are files that later nodes rely on: those must be final."""
        try:
            result = self.store.read_result(self.claim)
        except DamagedResult:
            return
        if isinstance(result, dict) and not result.get("blobs"):
            self._take_what_was_written()
            self._conclude({"type": "result", "result": result})

    def end(self):
        """After the last process has died. Whoever began to follow while it was dying has not been told yet."""
        status = self.process.bury()
        if self.told is None:
            self._conclude(self._outcome(status))
        else:
            self.store.drop_out(self.claim)
            self._tell_last()
        for callback in self.on_end:
            callback(self)

    def _conclude(self, message):
        """Keeps the outcome and tells it to all who follow."""
        if self.shown:
            self.store.hide_log(self.claim)
        if self.process.porter:
            self.note(self.process.porter.notes_so_far())
        duration_ms = round((time.monotonic() - self.began) * 1000)
        message.update(logs=self.logs(), durationMs=duration_ms)
        if message["type"] == "result" and (self.killed_as or not self.is_fit):
            message["unfit"] = True
        if message["type"] == "result" and self.weaker:
            message["weaker"] = self.weaker
        self.told = self._keep(message) if message["type"] == "result" else message
        self._tell_last()

    def _tell_last(self):
        self._tell(self.told)
        for follower in self.followers:
            follower.close()
        self.followers = []

    def _keep(self, message):
        data = json.dumps(message).encode()
        try:
            self.store.keep_outcome(self.claim, data)
        except OSError:
            # The disk is full: a short outcome is told now, and a later delivery hears that it is lost.
            return message if len(data) <= INLINE_BYTES else endings.not_kept(message)
        return message if len(data) <= INLINE_BYTES else kept_as_file(*self.store.outcome(self.claim))

    def _outcome(self, status):
        if self.is_complete:
            return self._result()
        if self.killed_as == "stopped":
            return {"type": "tombstoned"}
        if not self.has_begun:
            self.store.unclaim(self.claim)
            return endings.not_begun(self.problem)
        if self.killed_as == "timeout":
            return endings.timed_out(self.limit_seconds)
        if self.killed_as == "memory":
            return endings.took_too_much()
        if self.killed_as == "protest":
            return endings.damaged(self.protest)
        return endings.died(status)

    def _result(self):
        try:
            result = self.store.read_result(self.claim)
            self.store.adopt_blobs(self.claim)
        except LargeResult:
            return endings.too_large()
        except (DamagedResult, OSError) as error:
            return endings.damaged(error)
        return {"type": "result", "result": result}

    def logs(self):
        tail = bytes(self.log[-LOG_BYTES:])
        if self.log_is_cut or len(tail) < len(self.log):
            tail = tail[tail.find(b"\n", 0, _LINE_BYTES) + 1 :]  # of a line longer than that, the end is kept
            tail = tail.lstrip(_INSIDE_CHARACTERS)
        return tail.decode("utf-8", "replace")


def _pipe_size(fd):
    """The code may have made it larger."""
    return fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ) if hasattr(fcntl, "F_GETPIPE_SZ") else _PIPE_BYTES
