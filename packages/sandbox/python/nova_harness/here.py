"""Finds out which addresses belong to this machine, and which name servers it uses."""

import ipaddress
import socket

# Ports of E2B's code interpreter, which runs code of any caller as root, and of E2B's file service.
E2B_PORTS = (49999, 49983)

_NAMES_PORT = 53
_MOST_NAMESERVERS = 3


def plain(text):
    """Parses an address without its zone. An IPv4-mapped IPv6 address becomes IPv4."""
    address = ipaddress.ip_address(text.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def is_within(address):
    """True if the address leads to the network namespace of the process that uses it."""
    return address.is_loopback or address.is_unspecified


def is_near(address):
    """True if the address leads to this machine or to its local link."""
    return is_within(address) or address.is_link_local or address.is_multicast or _is_own(address)


def _is_own(address):
    """True if the address belongs to this machine: a socket can only be bound to such an address."""
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as any_socket:
        try:
            any_socket.bind((str(address), 0))
        except OSError:
            return False
    return True


def read_resolver(path="/etc/resolv.conf"):
    """Reads a resolv.conf. Returns (addresses of name servers, all other lines)."""
    servers, others = [], []
    try:
        with open(path) as file:
            for line in file:
                words = line.split()
                if words[:1] == ["nameserver"] and len(words) > 1:
                    servers.append(words[1])
                else:
                    others.append(line)
    except OSError:
        return [], []
    return servers[:_MOST_NAMESERVERS], others


def inner_resolver(count, others):
    """Returns the text of a resolv.conf that names `inner_nameservers`."""
    return "".join([*others, *(f"nameserver {address}\n" for address, _ in inner_nameservers(count))])


def inner_nameservers(count):
    return [(f"127.0.0.{53 + index}", _NAMES_PORT) for index in range(count)]
