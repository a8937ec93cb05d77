"""Forwards DNS queries from a run's network namespace to the sandbox's name servers. No other datagram leaves it."""

import ipaddress
import select
import socket
import struct

from . import here

_LONGEST_BYTES = 1 << 16
_MOST_QUESTIONS = 64
_PORT = 53


class Names:
    """`servers` are addresses of name servers; `inner` has one socket in the run's namespace for each."""

    def __init__(self, guard, inner, servers):
        self.guard, self.inner, self.asked = guard, inner, []
        places = here.inner_nameservers(len(servers))
        self.servers = dict(zip(places, servers))
        for sock, server in zip(inner, servers):
            guard.watch(sock.fileno(), select.EPOLLIN, lambda _, sock=sock, server=server: self._ask(sock, server))

    def find_server(self, address, port):
        """Returns (family, raw sockaddr) of the name server at an inner address, for DNS over TCP; None for others."""
        server = self.servers.get((address, port))
        return server and _raw(server)

    def _ask(self, inner, server):
        question, who = inner.recvfrom(_LONGEST_BYTES)
        outer = socket.socket(_family(server), socket.SOCK_DGRAM)
        try:
            outer.connect((server, _PORT))
            outer.send(question)
        except OSError:
            outer.close()  # the resolver will repeat the query
            return
        if len(self.asked) == _MOST_QUESTIONS:
            self._end(self.asked[0])
        self.asked.append(outer)
        self.guard.watch(outer.fileno(), select.EPOLLIN, lambda _: self._answer(inner, who, outer))

    def _answer(self, inner, who, outer):
        try:
            inner.sendto(outer.recv(_LONGEST_BYTES), who)
        except OSError:
            pass  # the server or the resolver is gone
        self._end(outer)

    def _end(self, outer):
        self.asked.remove(outer)
        self.guard.forget(outer.fileno())
        outer.close()

    def close(self):
        for sock in (*self.inner, *self.asked):
            sock.close()


def _family(server):
    return socket.AF_INET6 if ":" in server else socket.AF_INET


def _raw(server):
    packed = ipaddress.ip_address(server.partition("%")[0]).packed
    port = struct.pack("!H", _PORT)
    if len(packed) == 4:
        return socket.AF_INET, struct.pack("=H", socket.AF_INET) + port + packed + bytes(8)
    return socket.AF_INET6, struct.pack("=H", socket.AF_INET6) + port + bytes(4) + packed + bytes(4)
