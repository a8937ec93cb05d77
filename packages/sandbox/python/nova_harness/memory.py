"""
How much memory a run's code has taken, shared memory and files in memory included: the system limits each process, and
only what it has for itself.
"""

import contextlib
import os

LIMIT_BYTES = 2 << 30

_SHARED_MAPPING = "/dev/zero (deleted)"


def is_beyond_limit(process, folders):
    """`process`: the first of the code. `folders`: those of its own that lie in memory."""
    files = sum(_bytes_in(f"/proc/{process}/root{folder}") for folder in folders)
    members = _members(process)
    # The quick look counts what several processes share for each of them.
    at_most = files + sum(_sum(f"{member}/status", ("RssAnon:", "RssShmem:", "VmSwap:")) for member in members)
    return at_most > LIMIT_BYTES and files + sum(map(_own_bytes, members)) > LIMIT_BYTES


def _members(process):
    """Its own /proc shows all that it has started, and nobody else's."""
    proc = f"/proc/{process}/root/proc"
    try:
        return [f"{proc}/{name}" for name in os.listdir(proc) if name.isdigit()]
    except OSError:  # it has just ended
        return []


def _own_bytes(member):
    """Of what it shares with others its part; of files nothing, since those in memory are counted by their folders."""
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
    with contextlib.suppress(OSError), open(path, errors="replace") as file:  # the process may end meanwhile
        return file.readlines()
    return []


def _bytes_in(folder):
    try:
        found = os.statvfs(folder)
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize
