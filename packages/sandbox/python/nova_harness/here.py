"""Which addresses are this machine's own, and where its names are looked up."""

import ipaddress
import socket

# In an E2B sandbox these are the code interpreter, which runs anybody's code as root, and the files.
E2B_PORTS = (49999, 49983)

_NAMES_PORT = 53
_MOST_NAMESERVERS = 3


def plain(text):
    """An address without its zone; an IPv4 address in IPv6 clothes is one of IPv4."""
    address = ipaddress.ip_address(text.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def is_within(address):
    """It leads to the network of whoever uses it."""
    return address.is_loopback or address.is_unspecified


def is_near(address):
    """It leads to this machine, or to what only this machine can reach."""
    return is_within(address) or address.is_link_local or address.is_multicast or _is_own(address)


def _is_own(address):
    """Only a machine's own address can be where its datagrams come from."""
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as any_socket:
        try:
            any_socket.bind((str(address), 0))
        except OSError:
            return False
    return True


def read_resolver(path="/etc/resolv.conf"):
    """(addresses of name servers, all other lines)"""
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
    """The file that leads to `inner_nameservers`."""
    return "".join([*others, *(f"nameserver {address}\n" for address, _ in inner_nameservers(count))])


def inner_nameservers(count):
    return [(f"127.0.0.{53 + index}", _NAMES_PORT) for index in range(count)]
