"""One claim while its code runs: the attaches that wait for its outcome (followers), the values that the code requests
(needs), its time limit and its outcome."""

import contextlib
import fcntl
import itertools
import json
import os
import time
from typing import NamedTuple

from . import linux, outcomes
from .encode import CUT_MARK
from .store import DamagedResult, LargeResult, is_hash

_MOST_DAMAGED = 2
# The largest integer that JavaScript represents exactly, because the adapter parses the number.
_LARGEST_BYTES = (1 << 53) - 1


def checked_need(wanted):
    """Returns a need of the code if it is valid. Raises ValueError if it is not, because parts of it become paths and
    messages."""
    match wanted:
        case {"blob": {"sha256": sha256, "bytes": int() as size, "type": "bytes" | "text" | "json" as kind}}:
            if is_hash(sha256) and size is not True and 0 <= size <= _LARGEST_BYTES:
                return {"blob": {"sha256": sha256, "bytes": size, "type": kind}}
        case {"outputs": str() as node}:
            return {"outputs": node}
        case {"outputNames": True}:
            return {"outputNames": True}
        case {"task": str() as node}:
            return {"task": node}
    raise ValueError("it asked for something that there is not")


class Need:
    """`wanted` is {"blob": {sha256, bytes, type}}, {"outputs": node}, {"outputNames": true} or {"task": node}."""

    def __init__(self, name, wanted):
        self.name, self.wanted, self.blob = name, wanted, wanted.get("blob")
        self.is_awaited = False

    def announcement(self):
        """Returns the message that asks the adapter for the value. Its paths, for the value and for a refusal, are
        relative to the root."""
        answer = f"answers/{self.name}"
        put = f"blobs/{self.blob['sha256']}" if self.blob else answer
        return {"type": "need", **self.wanted, "put": put, "refuse": answer}

    def take(self, store):
        """Returns (kind, open file) if the answer has arrived, else None. The kind is "blob" or "answer"."""
        if self.blob:
            blob = store.open_blob(self.blob["sha256"], self.blob["bytes"])
            if blob is not None:
                return "blob", blob
        answer = store.open_answer(self.name)
        return None if answer is None else ("answer", answer)


class Needs:
    _names = map("{}-{}".format, itertools.repeat(os.getpid()), itertools.count())

    def __init__(self, store, announce):
        self._store, self._announce = store, announce
        self._open = {}
        self._damaged = {}
        self._given = None

    def announcements(self):
        return [need.announcement() for need in self._open.values()]

    def ask(self, wanted, is_awaited):
        """Opens a need: a request for a value. Does not announce it to the adapter if the value is a blob that is
        already in the sandbox."""
        key = repr(sorted(wanted.items()))
        need = self._open.get(key)
        if need is None:
            if not is_awaited and self._store.has_blob(**wanted["blob"]):
                return
            need = self._open[key] = Need(next(self._names), wanted)
            if not (need.blob and self._store.has_blob(**need.blob)):
                self._announce(need.announcement())
        need.is_awaited = need.is_awaited or is_awaited

    def is_lost(self, sha256):
        """Drops a damaged blob, whose upload may have been incomplete. True if several copies were damaged, so that no
        more are requested."""
        if sha256 != self._given:
            raise ValueError("it calls a value damaged that it was not given")
        self._store.drop_blob(sha256)
        self._damaged[sha256] = self._damaged.get(sha256, 0) + 1
        return self._damaged[sha256] > _MOST_DAMAGED

    def arrived(self):
        """Closes needs that have been answered. Yields (kind, file) for each that the code waits for."""
        for key, need in list(self._open.items()):
            found = need.take(self._store)
            if found:
                del self._open[key]
                if need.is_awaited:
                    self._given = need.blob and need.blob["sha256"]
                    yield found
                else:
                    os.close(found[1])


INLINE_BYTES = 200_000  # The adapter reads a longer outcome as a file, because Jupyter limits the rate of output.
LOG_BYTES = 1 << 16
_LINE_BYTES = 1 << 12
_PIPE_BYTES = 1 << 16
_INSIDE_CHARACTERS = bytes(range(0x80, 0xC0))  # The bytes of UTF-8 that continue a character.
_FREE_WAITING_SECONDS = 60.0
_DYING_SECONDS = 5.0  # Code has at most this time between its result and the end of its processes.
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
        """`is_fit` says whether a later execution may use this sandbox. `is_last` says whether the execution expects no
        further run in this sandbox. `weaker` is a sentence about isolation that the system does not support, or
        None."""
        self.claim, self.process, self.store, self.is_fit = claim, process, store, is_fit
        self.is_last, self.weaker = is_last, weaker
        self.has_begun, self.problem = False, "its process has died"
        self.limit_seconds = limit_seconds
        self.followers = []
        self.needs = Needs(store, self._tell)
        self.log, self.log_is_cut, self.lost_lines = bytearray(), False, 0
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
        """Starts the code. Raises OSError if no code starts."""
        self.process.begin(request.fileno(), out)
        for blob in ahead:
            self.needs.ask({"blob": blob}, is_awaited=False)

    def follow(self, follower):
        """Adds a follower, and announces open needs again, because the Lambda that received them may be dead."""
        self.followers.append(follower)
        for announcement in self.needs.announcements():
            follower.tell(announcement)

    def _tell(self, message):
        for follower in self.followers:
            follower.tell(message)

    def hear(self):
        """Handles messages of the code's process. False if no more will come."""
        try:
            is_open = self.process.reader.fill()
            while (message := self.process.reader.take()) is not None:
                self._obey(message)
        except OSError:
            return False
        # The code can send anything through the descriptors of the harness.
        except (ValueError, RecursionError) as error:
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
            self.needs.ask(checked_need(message["need"]), is_awaited=True)
            self.waits_since = time.monotonic()
            self.look()
        elif is_hash(message.get("damaged")):
            if self.needs.is_lost(message["damaged"]):
                self._answer({"error": "it arrived damaged again and again"})
            else:
                self._answer({"again": True})
        elif "complete" in message and not self.is_complete:
            self.is_complete, self.waits_since = True, None
            self.deadline = min(self.deadline, time.monotonic() + _DYING_SECONDS)
            if self.process.end():  # Processes that the code has left must not exist any more when the next node runs.
                self._conclude_early()
        elif "begun" in message and not self.has_begun:
            self.has_begun = True
        elif "failed" in message and not self.has_begun:
            self.problem = linux.as_error(message)
        elif "ready" not in message:
            raise ValueError("it sent a message that there is not")

    def look(self):
        """Passes to the code those answers to its needs that have arrived."""
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
        """Reads output. False at its end, when no process of the run is left."""
        try:
            data = os.read(self.process.output, _PIPE_BYTES)
        except BlockingIOError:
            return True
        self._log(data)
        return bool(data)

    def _take_what_was_written(self):
        """Reads the output that is in the pipe now."""
        with contextlib.suppress(BlockingIOError):
            self._log(os.read(self.process.output, _pipe_size(self.process.output)))

    def note(self, texts):
        """Adds notes of the harness to the code's log."""
        for text in texts:
            self._log(f"[network] {text}\n".encode())

    def _log(self, data):
        self.log += data
        self.logged += len(data)
        if len(self.log) > 4 * LOG_BYTES:
            self.lost_lines += self.log.count(b"\n", 0, len(self.log) - LOG_BYTES)
            del self.log[:-LOG_BYTES]
            self.log_is_cut = True

    def seconds_left(self, now):
        """Returns the seconds that the code has left; None after a kill. The first minute of waiting for values is
        free."""
        return None if self.killed_as else self.deadline + self._waited_for_free(now) - now

    def _waited_for_free(self, now):
        return 0.0 if self.waits_since is None else min(now - self.waits_since, self.free_waiting)

    def weigh(self, now):
        """Measures the memory of the code from time to time, but so rarely that this does not slow down the code."""
        if now < self.weighed_next or self.killed_as or not self.process.isolated:
            return
        if self.process.takes_too_much():
            self.kill("memory")
        took = time.monotonic() - now
        self.weighed_next = now + max(_BETWEEN_WEIGHINGS_SECONDS, _WEIGHINGS_SHARE * took)

    def show_in(self, now):
        """Returns the seconds until the log is written again; None if the log has not changed."""
        return None if self.shown == self.logged or self.told else self.shown_next - now

    def show(self, now):
        """Writes the end of the log to a file for readers, but so rarely that this does not slow down the code."""
        left = self.show_in(now)
        if left is None or left > 0:
            return
        self.shown = self.logged
        # If the disk is full, only the log for readers is missing: the outcome also contains the log.
        with contextlib.suppress(OSError):
            self.store.show_log(self.claim, self.logged, self.log[-LOG_BYTES:])
        took = time.monotonic() - now
        self.shown_next = now + max(_BETWEEN_SHOWINGS_SECONDS, _SHOWINGS_SHARE * took)

    def kill(self, reason):
        """Kills the code. `reason` is "timeout", "memory", "stopped" or "protest". A complete result stays valid."""
        if not self.killed_as:
            self.killed_as = reason
            self.process.kill()

    def _conclude_early(self):
        """Sends the outcome before all processes are gone. An outcome with blobs is not sent so early, because a
        process could still change a blob."""
        try:
            result = self.store.read_result(self.claim)
        except DamagedResult:
            return
        if isinstance(result, dict) and not result.get("blobs"):
            self._take_what_was_written()
            self._conclude({"type": "result", "result": result})

    def end(self):
        """Runs after the last process has died. Sends the outcome to followers that have not received it yet."""
        status = self.process.clean_up()
        if self.told is None:
            self._conclude(self._outcome(status))
        else:
            self.store.drop_out(self.claim)
            self._tell_last()
        for callback in self.on_end:
            callback(self)

    def _conclude(self, message):
        """Stores the outcome and sends it to all followers."""
        if self.shown:
            self.store.hide_log(self.claim)
        if self.process.relay:
            self.note(self.process.relay.notes_so_far())
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
            # The disk is full, so the outcome is not stored. A short outcome is sent now, but a later delivery cannot
            # find it.
            return message if len(data) <= INLINE_BYTES else outcomes.not_kept(message)
        return message if len(data) <= INLINE_BYTES else kept_as_file(*self.store.outcome(self.claim))

    def _outcome(self, status):
        if self.is_complete:
            return self._result()
        if self.killed_as == "stopped":
            return {"type": "tombstoned"}
        if not self.has_begun:
            self.store.unclaim(self.claim)
            return outcomes.not_begun(self.problem)
        if self.killed_as == "timeout":
            return outcomes.timed_out(self.limit_seconds)
        if self.killed_as == "memory":
            return outcomes.took_too_much()
        if self.killed_as == "protest":
            return outcomes.damaged(self.protest)
        return outcomes.died(status)

    def _result(self):
        try:
            result = self.store.read_result(self.claim)
            self.store.adopt_blobs(self.claim)
        except LargeResult:
            return outcomes.too_large()
        except (DamagedResult, OSError) as error:
            return outcomes.damaged(error)
        return {"type": "result", "result": result}

    def logs(self):
        tail = bytes(self.log[-LOG_BYTES:])
        note = ""
        if self.log_is_cut or len(tail) < len(self.log):
            # Drops an incomplete first line, unless it is very long.
            begin = tail.find(b"\n", 0, _LINE_BYTES) + 1
            lost = self.lost_lines + self.log.count(b"\n", 0, len(self.log) - len(tail) + begin)
            note = f"(the first {lost:,} lines were not kept)" if lost > 0 else "(the start was not kept)"
            # The mark stands directly before the text, which may start inside a secret.
            note += f"\n{CUT_MARK}"
            tail = tail[begin:].lstrip(_INSIDE_CHARACTERS)
        return note + tail.decode("utf-8", "replace")


def _pipe_size(fd):
    """Returns the size of a pipe, which the code may have enlarged."""
    return fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ) if hasattr(fcntl, "F_GETPIPE_SZ") else _PIPE_BYTES
