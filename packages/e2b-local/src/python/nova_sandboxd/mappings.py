"""Makes forks cheaper. A fork copies every memory mapping of the process, and the address of every page that the
process has written. So fewer mappings and larger pages save time."""

import itertools
import sys
from collections import namedtuple

from . import linux

_HUGE_PAGE = 1 << 21

Mapping = namedtuple("Mapping", "start end rights offset file")


def compact():
    """Joins mappings and pages. If the kernel refuses to join them, forks are only slower."""
    if sys.platform == "linux":
        join_libraries()
        _join_pages()


def join_libraries():
    """Gives neighbouring mappings of a library the same rights, so that the kernel joins them. Constants become
    executable like the code. Addresses that the loader has set become writable like the variables. The code of the
    process gets no new rights, because it may always change the rights of its own memory. After a write, the kernel
    joins mappings only in the process that has loaded the library. So call this function before that process forks."""
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
    """Turns memory into huge pages. If a fork writes to a huge page, the kernel divides that page."""
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
