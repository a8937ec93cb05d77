"""The limits of a sandbox for memory and processes. The kernel enforces the limits of a single process immediately,
with a MemoryError or a failed fork. This watchdog checks the sums over all processes of the sandbox. If there are too
many processes, it ends the fork bomb. If they take too much memory together, it kills the process that takes the
most."""

import os
import resource
import signal
import sys
import time

from . import processes

_CLOSE, _BUSY, _IDLE = 0.1, 0.4, 2.0  # Seconds between two checks: near a limit, under load, and otherwise.
_QUIET_LOOKS = 10
_NOTICEABLE = 1 << 23
# The kernel allows this many processes above the limit, so that the watchdog sees a fork bomb that exceeds the
# limit.
_TOO_MANY = 32
_FORGIVEN = 5.0  # After this number of seconds, earlier kills no longer count.
_PATIENT_KILLS, _UNHELPFUL_KILLS = 10, 50
_OLDEST = 8  # The number of processes older than a fork bomb that are spared if possible.


class Limits:
    """The limits of a sandbox. The memory that a fresh fork already has, mainly the imported packages, does not
    count."""

    def __init__(self, settings):
        self.memory_bytes, self.processes = settings["memoryBytes"], settings["processes"]
        self.isolated = settings["isolated"]
        self.base_bytes = _data_bytes()

    def bind(self):
        """Sets the limits that the kernel enforces for this process and its forks."""
        if sys.platform != "linux":
            return
        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_DATA, self.memory_bytes + self.base_bytes)
        if self.isolated and _counts_per_namespace():
            _lower(resource.RLIMIT_NPROC, self.processes + _TOO_MANY)


def _lower(kind, value):
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _counts_per_namespace():
    """Whether the kernel counts processes per user namespace. Before Linux 5.14, it counts those of all sandboxes
    together."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor)))) >= (5, 14)


def _data_bytes():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
    except FileNotFoundError:
        return 0


class Watchdog:
    """`members` returns the processes of the sandbox except the agent. `kernels` returns the pids that are spared if
    possible."""

    def __init__(self, loop, limits, members, kernels):
        self.loop, self.limits, self.members, self.kernels = loop, limits, members, kernels
        self.quiet = self.kills = 0
        self.seen, self.last_kill = None, 0
        self.timer = None
        self.active = sys.platform == "linux"
        self._wait(_IDLE)

    def wake(self):
        if self.active and self.quiet:
            self.quiet = 0
            self._wait(_BUSY)

    def _wait(self, seconds):
        if self.timer:
            self.timer.cancel()
        self.timer = self.loop.later(seconds, self._look) if self.active else None

    def _look(self):
        members = self.members()
        sizes = self._sizes(members)
        total = sum(sizes.values())
        if len(members) > self.limits.processes:
            self._end_excess(members)
        elif total > self.limits.memory_bytes:
            self._kill([max(sizes, key=sizes.get)])
        elif time.monotonic() - self.last_kill > _FORGIVEN:
            self.kills = 0
        self._wait(self._patience(sizes, total))

    def _patience(self, sizes, total):
        seen = (sizes.keys(), total // _NOTICEABLE)
        self.quiet = self.quiet + 1 if seen == self.seen else 0
        self.seen = seen
        if total > self.limits.memory_bytes / 2 or len(sizes) > self.limits.processes / 2:
            return _CLOSE
        return _IDLE if self.quiet > _QUIET_LOOKS else _BUSY

    def _sizes(self, members):
        agent = processes.anonymous_bytes("self")
        inherited = {process.pid: process.anonymous_bytes for process in members}
        return {
            process.pid: processes.own_bytes(process, inherited.get(process.parent, agent)) for process in members
        }

    def _end_excess(self, members):
        """Ends a fork bomb: kills the largest process group, and the newest of the other processes. If too many
        processes remain, the next call spares fewer of the older processes. It stops all victims before it kills them,
        so that none can fork meanwhile."""
        spared = self.kernels()
        groups = {}
        for process in members:
            if process.pid not in spared:
                groups.setdefault(process.group, []).append(process)
        largest = max(groups.values(), key=len)
        others = [process for group in groups.values() if group is not largest for process in group]
        others.sort(key=lambda process: process.started)
        trusted = max(_OLDEST, self.limits.processes // 2 >> self.kills) if self.kills < _PATIENT_KILLS else 0
        victims = [process.pid for process in largest + others[trusted:]]
        for pid in victims:
            processes.send_signal(pid, signal.SIGSTOP)
        self._kill(victims)

    def _kill(self, pids):
        self.kills += 1
        self.last_kill = time.monotonic()
        if self.kills > _UNHELPFUL_KILLS:
            os._exit(1)  # The end of pid 1 ends the whole sandbox.
        for pid in pids:
            processes.send_signal(pid, signal.SIGKILL)
