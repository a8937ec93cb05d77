"""The owner of a sandbox's claims. It is single-threaded, so that it can fork at any moment, and outlives every attach.

An attach sends the name of its input. Answers are lines that start with the nonce of that input, so that other output
on the kernel's stdout cannot pass for an answer."""

import atexit
import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import sys
import time
import traceback

from . import jail, outcomes, wire
from .allow import near_of
from .encode import CUT_MARK
from .zygote import Zygote
from .run import INLINE_BYTES, LOG_BYTES, Claim, Run, kept_as_file
from .runner import clean_environment
from .spares import Spares, Unable, note
from .store import Store

_EAGER, _SOON, _LATER = 0.001, 0.005, 0.02  # Seconds between two checks for a value that the code waits for.
_SLOW_FOLLOWER_SECONDS = 10
_ORPHANED_SECONDS, _DYING_SECONDS = 1.0, 0.2


class Follower:
    """An attach, which receives the messages of one claim until its end."""

    def __init__(self, connection, nonce):
        self._connection, self._nonce = connection, nonce
        connection.settimeout(_SLOW_FOLLOWER_SECONDS)

    def tell(self, message):
        try:
            self._connection.sendall(f"{self._nonce} {json.dumps(message)}\n".encode("ascii"))
        except OSError:
            self.close()  # The attach has ended or does not read. The adapter may attach again.

    def close(self):
        self._connection.close()


class Daemon:
    def __init__(self, listener, root, is_clean):
        self.listener, self.root, self.is_clean = listener, root, is_clean
        self.zygote = self.spares = self.walls = None
        # The system limits the descriptors of epoll per user, so this uses poll.
        self.selector = selectors.PollSelector()
        self.store = Store(root)
        self.running, self.relays = {}, set()

    def _make_walls(self):
        """Finds out once which isolation the system supports. Raises OSError for a shortage; the next attach tries
        again."""
        if self.spares is None:
            self.zygote = self.zygote or Zygote(self.root)
            spares = Spares(self.zygote, self.root)
            try:
                self.store.open_through(spares.walls)
            except OSError:
                spares.end_all()
                raise
            self.spares, self.walls = spares, spares.walls

    def serve(self):
        with contextlib.suppress(OSError):
            self._make_walls()
        self._watch(self.listener, self._accept)
        while True:
            for key, _ in self.selector.select(self._patience()):
                # The callback of an earlier event may have removed this descriptor.
                if self.selector.get_map().get(key.fd) is key:
                    key.data()
            self._look_after_runs()
            if self._may_be_orphaned() and not os.path.exists(self.root):
                self._leave()

    def _watch(self, file, callback):
        self.selector.register(file, selectors.EVENT_READ, callback)

    def _accept(self):
        try:
            connection, _ = self.listener.accept()
        except OSError:  # This process has no free descriptor. The client waits in the queue.
            time.sleep(_SOON)
            return
        connection.settimeout(_SLOW_FOLLOWER_SECONDS)
        try:
            name = connection.makefile("rb").readline().decode().strip()
            header, rest = self.store.open_input(name)
            self.store.drop_input(name)
        except (OSError, ValueError):
            connection.close()  # This attach gets no answer, so the adapter sends the input again.
            return
        with rest:
            follower = Follower(connection, header["nonce"])
            try:
                if header["op"] == "stop":
                    self._stop(header, follower)
                else:
                    self._make_walls()
                    if self._is_of_another(header["execution"]):
                        self._make_room(header["execution"])
                    self._run(header, rest, follower)
            except OSError as error:
                self._tell_and_close(follower, outcomes.not_begun(error))

    def _is_of_another(self, execution):
        now = self.store.execution()
        if now is None:
            self.store.begin_execution(execution)
        return now not in (None, execution) and not self.store.has_ended(execution)

    def _make_room(self, execution):
        """Removes all processes and files of the previous execution."""
        for run in list(self.running.values()):
            if run.told is None:
                run.kill("stopped")
            self._await_end(run)
        for relay in list(self.relays):
            self._end_relay(relay)
        self.spares.end_all()
        self.store.begin_execution(execution)
        self.store.open_through(self.walls)

    def _run(self, header, rest, follower):
        claim = Claim.of(header)
        if self.store.execution() != header["execution"]:
            self._tell_and_close(follower, {"type": "tombstoned"})
            return
        if claim in self.running:
            self.running[claim].follow(follower)
            return
        self._await_dying_runs()
        try:
            process = self.spares.take(header.get("network"))
        except Unable as error:
            self._tell_and_close(follower, {"type": "unable", "message": str(error)})
            return
        try:
            if not self.store.claim(claim):
                self._tell_kept(claim, follower)
            elif self.store.is_forbidden(claim.link):
                self._tell_and_close(follower, {"type": "tombstoned"})
            else:
                self._begin(process, claim, header, rest, follower)
        finally:
            if claim not in self.running and process.init:
                self.spares.give_back(process)

    def _begin(self, process, claim, header, rest, follower):
        try:
            out = self.walls.hand_out(self.store.make_out(claim, self.walls.user))
        except OSError:
            self.store.unclaim(claim)
            raise
        is_fit = self.is_clean and self.walls.isolated
        is_last = header.get("last", False)
        weaker = self.spares.weaker
        run = Run(claim, process, self.store, header["timeoutSeconds"], is_fit, is_last, weaker)
        try:
            guard = process.open_guard(self.walls.user_of_code, near_of(header.get("near", [])), run.note)
            run.begin(rest, out, header["ahead"])
        except OSError:
            self.store.unclaim(claim)
            note(self.root, process.kill_and_read_output())
            raise
        finally:
            os.close(out)
        self.running[claim] = run
        run.follow(follower)
        self._watch(process.control, lambda: self._hear(run))
        self._watch(process.output, lambda: run.listen() or self._end(run))
        if process.relay:
            self.relays.add(process.relay)
            self._watch(process.relay.control, lambda: self._hear_relay(process.relay, run))
        if guard:
            self._watch(guard, guard.serve)
        if not is_last:
            with contextlib.suppress(OSError):  # If this fails, the next node prepares a process and reports the error.
                self.spares.prepare_ahead()

    def _hear(self, run):
        """Handles messages of the code's process. After that process has reported its outcome, the daemon only waits
        for the end of the output."""
        is_open = run.hear()
        if run.told is not None:
            self._stop_watching(run.process.control, run.process.guard)
        elif not is_open:
            self._stop_watching(run.process.control)

    def _stop_watching(self, *files):
        for file in files:
            if file is not None and file in self.selector.get_map():
                self.selector.unregister(file)

    def _hear_relay(self, relay, run):
        """Reads notes that a relay has written for the log of its run. A relay outlives its run until all bytes that
        the code wrote are sent."""
        notes = relay.notes()
        if notes is None:
            self._end_relay(relay)
        else:
            run.note(notes)

    def _end_relay(self, relay):
        self.selector.unregister(relay.control)
        self.relays.discard(relay)
        relay.kill()

    def _end(self, run):
        if run.process.control in self.selector.get_map():
            run.hear()
        self._stop_watching(run.process.output, run.process.guard, run.process.control)
        del self.running[run.claim]
        run.end()
        # Memory or processes are short. The next node tries again and reports the shortage.
        with contextlib.suppress(OSError):
            (self.spares.put_away if run.is_last else self.spares.prepare_after)(run.process)

    def _await_dying_runs(self):
        """Waits until all processes of runs with a sent outcome have ended, because no other code may start earlier."""
        for run in [run for run in self.running.values() if run.told is not None]:
            self._await_end(run)

    def _await_end(self, run):
        """Waits until no process of the run is left. Kills the run's init if code delays the end of its processes, for
        example by ptrace."""
        while True:
            if not wire.is_readable(run.process.output, _DYING_SECONDS):
                run.process.kill()
            elif not run.listen():
                break
        self._end(run)

    def _tell_kept(self, claim, follower):
        kept = self.store.outcome(claim)
        if kept is None:
            # The claim has no outcome: it was stopped, or the daemon that ran its code has died.
            message = {"type": "tombstoned"} if self.store.is_forbidden(claim.link) else outcomes.lost()
            self._tell_and_close(follower, {**message, "logs": "", "durationMs": 0})
            return
        path, size = kept
        if size > INLINE_BYTES:
            message = kept_as_file(path, size)
        else:
            with open(self.store.path(path), "rb") as file:
                message = json.load(file)
        self._tell_and_close(follower, message)

    def _tell_and_close(self, follower, message):
        follower.tell(message)
        follower.close()

    def _stop(self, header, follower):
        """Sends the outcome if the claim is finished. If it is not, forbids further code at the claim's link and kills
        the code that runs there."""
        claim = Claim.of(header)
        asked = self.running.get(claim)
        if self.store.outcome(claim) or (asked and asked.is_complete):
            if asked:
                asked.follow(follower)
            else:
                self._tell_kept(claim, follower)
            return
        self.store.forbid(claim.link)
        dying = [run for run in self.running.values() if run.claim.link == claim.link]
        logs = []

        def send_when_ended(run):
            logs.append(run.logs())
            if len(logs) == len(dying):
                self._tell_and_close(follower, {"type": "stopped", "logs": CUT_MARK.join(logs)[-LOG_BYTES:]})

        for run in dying:
            run.on_end.append(send_when_ended)
            run.kill("stopped")
        if not dying:
            self._tell_and_close(follower, {"type": "stopped", "logs": ""})

    def _patience(self):
        now = time.monotonic()
        waits = [left for run in self.running.values() if (left := run.seconds_left(now)) is not None]
        for run in self.running.values():
            if run.waits_since is not None:
                waited = now - run.waits_since
                waits.append(_EAGER if waited < 0.1 else _SOON if waited < 1 else _LATER)
            if run.process.guard and run.process.guard.queue:
                waits.append(_SOON)
            if run.process.isolated:
                waits.append(run.weighed_next - now)
            if (shown_in := run.show_in(now)) is not None:
                waits.append(shown_in)
        if self._may_be_orphaned():
            waits.append(_ORPHANED_SECONDS)
        return max(0, min(waits)) if waits else None

    def _may_be_orphaned(self):
        """True if the system has no isolation. In that case, the end of the sandbox does not kill this process, so the
        daemon checks from time to time whether its folder still exists."""
        return self.walls is None or not self.walls.isolated

    def _look_after_runs(self):
        now = time.monotonic()
        for run in list(self.running.values()):
            if run.process.guard:
                run.process.guard.try_again()
            run.weigh(now)
            run.show(now)
            if run.waits_since is not None:
                run.look()
            left = run.seconds_left(now)
            if left is not None and left <= 0:
                run.kill("timeout")

    def _leave(self):
        for process in [*(run.process for run in self.running.values()), *(self.spares or ())]:
            process.kill()
        if self.zygote:
            self.zygote.settle()
        os._exit(0)


def main(fd, root, is_clean=True):
    """Runs the daemon, and never returns. `is_clean` is true if this process's memory holds no data of an execution."""
    try:
        _forget_parent(fd)
        _settle_in(root)
        Daemon(socket.socket(fileno=fd), root, is_clean).serve()
    except BaseException:
        note(root, traceback.format_exc())
    finally:
        os._exit(1)


def _forget_parent(fd):
    """Drops everything that this process inherited from the kernel or the warm process, except imported modules."""
    if os.getsid(0) != os.getpid():
        os.setsid()
    signal.set_wakeup_fd(-1)
    gc.collect()  # Closes the descriptors of unreachable objects, before new files get their numbers.
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    jail.close_all_but(fd)
    atexit._clear()
    if "asyncio" in sys.modules:
        sys.modules["asyncio"]._set_running_loop(None)
    jail.adopt_orphans()


def _settle_in(root):
    """Prepares the state that every forked process inherits."""
    with open(os.path.join(root, "daemon.pid"), "w") as file:
        file.write(str(os.getpid()))
    code = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [entry for entry in sys.path if entry != code]
    clean_environment()
    jail.raise_descriptors()
    gc.disable()  # There is little garbage, and a collection would copy memory that the children share.
    gc.freeze()
