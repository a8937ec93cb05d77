"""Makes forks cheaper: a fork copies every mapping of the process, and the place of every page that it has written."""

import itertools
import sys
from collections import namedtuple

from . import linux

_HUGE_PAGE = 1 << 21

Mapping = namedtuple("Mapping", "start end rights offset file")


def compact():
    """Joins mappings and pages. If the kernel refuses this, forks only stay slower."""
    if sys.platform == "linux":
        join_libraries()
        _join_pages()


def join_libraries():
    """Gives neighbouring mappings of a library the same rights, so that the kernel joins them: constants become
    executable like the code, and addresses that the loader has set become writable like the variables. That gives code
    no new rights, because it may change the rights of its own memory. After a write, the kernel joins mappings only in
    the process that has loaded the library, so call it before that process forks."""
    for first, second in itertools.pairwise(read_mappings()):
        is_one_file = first.file == second.file and first.offset + first.end - first.start == second.offset
        if first.end != second.start or not is_one_file:
            continue
        match first.rights, second.rights:
            case "r--p", "r-xp" | "rw-p":
                linux.set_rights(first.start, first.end, second.rights)
            case "r-xp", "r--p":
                linux.set_rights(second.start, second.end, first.rights)


def _join_pages():
    """Turns memory into huge pages. In a fork, the kernel divides those to which the fork writes."""
    for mapping in read_mappings():
        if mapping.rights == "rw-p" and mapping.file is None:
            start, end = -(-mapping.start // _HUGE_PAGE), mapping.end // _HUGE_PAGE
            if start < end:
                linux.join_pages(start * _HUGE_PAGE, end * _HUGE_PAGE)


def read_mappings():
    """Returns the mappings of this process. `file` is its device and inode; None for memory without a file."""
    with open("/proc/self/maps") as lines:
        return [_parse(line) for line in lines]


def _parse(line):
    place, rights, offset, device, inode, *_ = line.split()
    start, end = (int(part, 16) for part in place.split("-"))
    return Mapping(start, end, rights, int(offset, 16), (device, inode) if inode != "0" else None)
