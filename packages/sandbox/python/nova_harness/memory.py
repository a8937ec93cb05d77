"""Measures the memory of a run's code, including shared memory and files in memory. The system's own limit covers only
the private memory of a single process."""

import contextlib
import os

LIMIT_BYTES = 2 << 30

_SHARED_MAPPING = "/dev/zero (deleted)"


def is_beyond_limit(process, folders):
    """True if a run uses too much memory. `process` is the code's first process; `folders` are its folders that are in
    memory."""
    files = sum(_bytes_in(f"/proc/{process}/root{folder}") for folder in folders)
    members = _members(process)
    # The quick measurement counts shared memory once per process, so its sum is an upper bound.
    at_most = files + sum(_sum(f"{member}/status", ("RssAnon:", "RssShmem:", "VmSwap:")) for member in members)
    return at_most > LIMIT_BYTES and files + sum(map(_own_bytes, members)) > LIMIT_BYTES


def _members(process):
    """Returns the processes of the run: the /proc of its namespace shows no others."""
    proc = f"/proc/{process}/root/proc"
    try:
        return [f"{proc}/{name}" for name in os.listdir(proc) if name.isdigit()]
    except OSError:  # The process has just ended.
        return []


def _own_bytes(member):
    """Returns the private memory of a process and its proportional part of shared memory. Files in memory are counted
    with their folders instead."""
    return _sum(f"{member}/smaps_rollup", ("Pss_Anon:", "SwapPss:")) + _shared_mappings(f"{member}/smaps")


def _shared_mappings(path):
    found, is_shared = 0, False
    for line in _lines(path):
        words = line.split()
        if not words[0].endswith(":"):
            is_shared = line.rstrip().endswith(_SHARED_MAPPING)
        elif is_shared and words[0] == "Pss:":
            found += int(words[1]) << 10
    return found


def _sum(path, names):
    return sum(int(words[1]) << 10 for words in map(str.split, _lines(path)) if words[0] in names)


def _lines(path):
    with contextlib.suppress(OSError), open(path, errors="replace") as file:  # The process may end meanwhile.
        return file.readlines()
    return []


def _bytes_in(folder):
    try:
        found = os.statvfs(folder)
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize
