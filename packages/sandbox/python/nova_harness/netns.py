"""Sets up a run's network namespace: the run's init adds addresses and listening sockets ("doors") to it."""

import contextlib
import fcntl
import ipaddress
import socket
import struct
import time

from . import linux

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_RTM_NEWADDR, _NLMSG_ERROR = 20, 2
_REQUEST, _ACK, _CREATE, _REPLACE = 1, 4, 0x400, 0x100
_IFA_ADDRESS, _IFA_LOCAL, _IFA_FLAGS = 1, 2, 8
_IFA_F_NODAD, _IFA_F_NOPREFIXROUTE = 2, 0x200
_SCOPE_HOST = 254
_RTM_NEWROUTE, _RTA_DST, _RTA_OIF = 24, 1, 4
_TABLE_LOCAL, _PROTO_BOOT, _ROUTE_LOCAL = 255, 3, 2
_FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
_ANYWHERE = {4: "0.0.0.0", 6: "::"}
_BACKLOG = 256
_MOST_LOOKS, _BETWEEN_LOOKS_SECONDS = 1000, 0.001


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh22x", b"lo", 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request), 16)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | _IFF_UP))


def open_doors(doors):
    """Opens a listening socket for each door (an address that leads to an allowed host), and returns the sockets in the
    order of the doors."""
    for address in dict.fromkeys(door.address for door in doors if not door.is_range):
        if not ipaddress.ip_address(address).is_loopback:
            _add_to_loopback(ipaddress.ip_address(address))
            _await_route(ipaddress.ip_address(address))
    for network in dict.fromkeys(door.address for door in doors if door.is_range):
        _lead_here(ipaddress.ip_network(network))
    return [_listener(door) for door in doors]


def _listener(door):
    """Opens the socket at which a door accepts connections. For a range of addresses, the socket listens at every
    address, and the relay refuses connections to addresses outside all ranges."""
    version = ipaddress.ip_network(door.address).version
    listener = socket.socket(_FAMILIES[version], socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if version == 6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    listener.bind((_ANYWHERE[version] if door.is_range else door.address, door.port))
    listener.listen(_BACKLOG)
    return listener


def _add_to_loopback(address):
    """Adds an address to the loopback device, so that the namespace accepts connections to it."""
    about = struct.pack("=BBBBI", _FAMILIES[address.version], address.max_prefixlen, 0, _SCOPE_HOST, _loopback())
    flags = struct.pack("=I", _IFA_F_NODAD | _IFA_F_NOPREFIXROUTE)
    places = [(_IFA_LOCAL, address.packed), (_IFA_ADDRESS, address.packed)]
    _ask_system(_RTM_NEWADDR, about, [*places, (_IFA_FLAGS, flags)], address)


def _lead_here(network):
    """Adds one route that makes every address of a range local."""
    kind = (_TABLE_LOCAL, _PROTO_BOOT, _SCOPE_HOST, _ROUTE_LOCAL)
    about = struct.pack("=BBBBBBBBI", _FAMILIES[network.version], network.prefixlen, 0, 0, *kind, 0)
    places = [(_RTA_DST, network.network_address.packed), (_RTA_OIF, struct.pack("=I", _loopback()))]
    _ask_system(_RTM_NEWROUTE, about, places, network)


def _loopback():
    return socket.if_nametoindex("lo")


def _ask_system(kind, about, attributes, what):
    body = about + b"".join(struct.pack("=HH", 4 + len(value), name) + value for name, value in attributes)
    head = struct.pack("=IHHII", 16 + len(body), kind, _REQUEST | _ACK | _CREATE | _REPLACE, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as link:
        link.sendto(head + body, (0, 0))
        answer = link.recv(4096)
    is_error = struct.unpack_from("=IH", answer)[1] == _NLMSG_ERROR
    error = struct.unpack_from("=i", answer, 16)[0] if is_error else 0
    if error:
        raise linux.CallFailed(-error, f"netlink, address {what}")


def _await_route(address):
    """Waits for the route to an IPv6 address, which the kernel adds a moment after the address."""
    with socket.socket(_FAMILIES[address.version], socket.SOCK_DGRAM) as any_socket:
        for _ in range(_MOST_LOOKS):
            with contextlib.suppress(OSError):
                any_socket.connect((str(address), 9))
                return
            time.sleep(_BETWEEN_LOOKS_SECONDS)
