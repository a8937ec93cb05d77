"""Parses `network.allow` into doors. A door is an address and port inside the run's network namespace, and the host in
the sandbox's network to which it leads. Entries are `host`, `host:port`, `[2001:db8::7]:5432`, or ranges: `10.0.0.0/8`,
`10.0.0.0/8:5432`, `[2001:db8::/32]:443`."""

import contextlib
import ipaddress
import itertools
import os
import re
from typing import NamedTuple

# Ports of an entry without a port: HTTP, SMTP, POP3, IMAP, MySQL and PostgreSQL, with and without TLS.
USUAL_PORTS = (80, 443, 25, 465, 587, 110, 995, 143, 993, 3306, 5432)

_ENTRY = re.compile(r"(\[[0-9a-f:.]+(?:/[0-9]{1,3})?\]|[0-9.]+/[0-9]{1,2}|[a-z0-9_][a-z0-9_.-]*)(?::([1-9][0-9]{0,4}))?")
_IPV4 = re.compile(r"[0-9.]+")
_HERE = "127.0.0.1"


class Door(NamedTuple):
    address: str
    port: int
    host: str
    # Addresses that a lookup of the name returned when the node started; None if each connection looks up the name
    # again.
    addresses: list = None

    @property
    def is_range(self):
        """True if the door leads to every address of a network, not to one host."""
        return "/" in self.host

    @property
    def is_named(self):
        """True if the host is a name."""
        return not self.is_range and not _is_address(self.host)

    def leads_to(self, address):
        return self.is_range and ipaddress.ip_address(address) in ipaddress.ip_network(self.host)


def doors_of(allow, known=None):
    """Returns the doors for these entries of `network.allow`. `known` maps hosts to addresses. Raises ValueError for an
    invalid entry."""
    entries = [_parts(entry) for entry in allow]
    own = {host: str(ipaddress.ip_address(host)) for host, _ in entries if _is_address(host)}
    free = _free_addresses(set(own.values()))
    addresses = {"localhost": _HERE, **own}
    doors = {}
    for host, ports in entries:
        if host not in addresses:
            addresses[host] = host if "/" in host else next(free)
        for port in ports:
            doors.setdefault((addresses[host], port), Door(addresses[host], port, host, (known or {}).get(host)))
    return list(doors.values())


def near_of(hosts):
    """Returns (address, port) for each of `hosts` that is an address or `localhost`."""
    near = set()
    for entry in hosts:
        with contextlib.suppress(ValueError):  # The entries come from credentials, so some of them may be no hosts.
            host, ports = _parts(entry)
            addresses = (_HERE, "::1") if host == "localhost" else (host,)
            near.update((address, port) for address in addresses for port in ports)
    return near


def _parts(entry):
    """Returns the host and the ports of an entry of `network.allow`."""
    found = _ENTRY.fullmatch(entry) if isinstance(entry, str) else None
    if not found or int(found[2] or 0) > 65535:
        raise ValueError(f'"{entry}" is no host with or without a port')
    host = found[1].strip("[]")
    ports = (int(found[2]),) if found[2] else USUAL_PORTS
    if "/" in host:
        return _range(host, entry), ports
    if _is_address(host) != (host != found[1] or _IPV4.fullmatch(host) is not None):
        raise ValueError(f'"{entry}" is no address')
    if _is_address(host) and not _is_one_host(ipaddress.ip_address(host)):
        raise ValueError(f'"{entry}" is no address of one host')
    return host, ports


def _range(text, entry):
    """Returns the normalised text of a range."""
    network = ipaddress.ip_network(text, strict=False)
    first, last = network[0], network[-1]
    if network.prefixlen < 8 or not _is_one_host(last) or not (_is_one_host(first) or network.prefixlen == 8):
        raise ValueError(f'"{entry}" is no range of hosts')
    return str(network)


def _free_addresses(taken):
    """Yields unused loopback addresses, one for each allowed host name."""
    numbers = itertools.count(int(ipaddress.IPv4Address("127.64.0.1")))
    return (address for address in map(str, map(ipaddress.IPv4Address, numbers)) if address not in taken)


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
    """Returns a text for /etc/hosts in which each allowed host name has the address of its door."""
    own = {"localhost": _HERE, os.uname().nodename: _HERE}
    names = {door.host: door.address for door in doors if door.is_named}
    return "".join(f"{address} {name}\n" for name, address in {**own, **names}.items())
