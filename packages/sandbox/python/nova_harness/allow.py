"""
What code may connect to, as doors: an address and a port inside of the run's own network, and the host that the
sandbox's network knows behind it. Entries are `host`, `host:port`, `[2001:db8::7]:5432`.
"""

import ipaddress
import os
import re
from typing import NamedTuple

# Of a host without a port: HTTP, SMTP, POP3 and IMAP, MySQL and PostgreSQL, with and without TLS.
USUAL_PORTS = (80, 443, 25, 465, 587, 110, 995, 143, 993, 3306, 5432)

_ENTRY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_][a-z0-9_.-]*)(?::([1-9][0-9]{0,4}))?")
_FIRST_FREE = int(ipaddress.IPv4Address("127.64.0.1"))
_HERE = "127.0.0.1"


class Door(NamedTuple):
    address: str
    port: int
    host: str

    @property
    def is_named(self):
        """Its host is looked up when somebody knocks."""
        return not _is_address(self.host)


def doors_of(allow):
    """Raises ValueError for an entry that is none."""
    doors, addresses = {}, {}
    for entry in allow:
        found = _ENTRY.fullmatch(entry) if isinstance(entry, str) else None
        if not found:
            raise ValueError(f'"{entry}" is no host with or without a port')
        host, port = found[1].strip("[]"), found[2]
        if _is_address(host) and not _is_one_host(ipaddress.ip_address(host)):
            raise ValueError(f'"{entry}" is no address of one host')
        address = addresses.setdefault(host, _address_for(host, len(addresses)))
        for number in (int(port),) if port else USUAL_PORTS:
            doors.setdefault((address, number), Door(address, number, host))
    return list(doors.values())


def _address_for(host, number):
    """An address is its own; a name gets one that nothing else has."""
    if _is_address(host):
        return str(ipaddress.ip_address(host))
    return _HERE if host == "localhost" else str(ipaddress.IPv4Address(_FIRST_FREE + number))


def _is_address(host):
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_one_host(address):
    if address.version == 6:
        return not (address.is_multicast or address.is_unspecified or address.ipv4_mapped)
    return not (address.is_multicast or address.is_reserved or int(address) >> 24 == 0)


def hosts_file(doors):
    """Names to addresses, in the words of /etc/hosts."""
    own = {"localhost": _HERE, os.uname().nodename: _HERE}
    names = {door.host: door.address for door in doors if door.is_named}
    return "".join(f"{address} {name}\n" for name, address in {**own, **names}.items())
