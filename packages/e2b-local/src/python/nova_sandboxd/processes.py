"""Finds the processes of a sandbox. It includes zombies, because the kernel counts them, too. In a pid namespace, it
finds all processes in /proc. Without a pid namespace, it finds the descendants of the agent, which on Linux also adopts
orphans."""

import os
import signal
import subprocess
import sys
from collections import namedtuple

Process = namedtuple("Process", "pid parent group started anonymous_bytes faulted_bytes")

_PAGE = os.sysconf("SC_PAGE_SIZE")


def all_processes():
    return _read_proc() if sys.platform == "linux" else _ask_ps()


def _read_proc():
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found.append(_read_process(name))
            except (FileNotFoundError, ProcessLookupError):
                continue  # The process has ended meanwhile.
    return found


def _read_process(name):
    with open(f"/proc/{name}/stat", "rb") as stat:
        fields = stat.read().rpartition(b") ")[2].split()
    parent, group, faults, started = (int(fields[index]) for index in (1, 2, 7, 19))
    return Process(int(name), parent, group, started, anonymous_bytes(name), faults * _PAGE)


def anonymous_bytes(name):
    """Returns the memory of a process that belongs to no file, in bytes."""
    with open(f"/proc/{name}/statm", "rb") as statm:
        pages = statm.read().split()
    return (int(pages[1]) - int(pages[2])) * _PAGE


def _ask_ps():
    listing = subprocess.run(["ps", "-axo", "pid=,ppid=,pgid="], capture_output=True, check=True).stdout
    return [Process(*map(int, line.split()), 0, 0, 0) for line in listing.splitlines()]


def descendants(root):
    children = {}
    for process in all_processes():
        children.setdefault(process.parent, []).append(process)
    found, waiting = [], [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            found.append(child)
            waiting.append(child.pid)
    return found


def signal_all(members, number):
    """Sends a signal to every process that `members` returns. Repeats this until `members` returns no new process,
    because processes may fork before the signal reaches them."""
    told = set()
    while True:
        fresh = [process.pid for process in members() if process.pid not in told]
        if not fresh:
            return
        told.update(fresh)
        for pid in fresh:
            send_signal(pid, number)


def kill_family(root):
    signal_all(lambda: descendants(root), signal.SIGSTOP)
    signal_all(lambda: descendants(root), signal.SIGKILL)
    send_signal(root, signal.SIGKILL)


def send_signal(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return  # The process has ended by itself.


def own_bytes(process, inherited_bytes):
    """Estimates the memory that a process does not share with its parent. A fork shares its inherited pages until it
    writes to them, and each first write is a page fault. Memory beyond the inherited amount was allocated after the
    fork. (smaps would be exact, but cannot be read for a process that has changed its user.)"""
    grown = process.anonymous_bytes - inherited_bytes
    return min(process.anonymous_bytes, max(process.faulted_bytes, grown))
