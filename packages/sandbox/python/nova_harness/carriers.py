"""The porter's main loop: accepts connections at the doors and copies bytes to and from the real hosts."""

import contextlib
import selectors
import socket
import struct
import threading

from . import here, wire

MOST_CONNECTIONS = 64
_CHUNK_BYTES = 1 << 16
_CONNECT_SECONDS = 30
_LAST_WORDS_SECONDS = 2
_MOST_NOTES = 20
_SOCKETS_A_MESSAGE = 100
_STACK_BYTES = 1 << 18
_SOME, _ALL = b".", b"!"
_AT_ONCE = struct.pack("ii", 1, 0)


class Carriers:
    def __init__(self, control, channel, doors):
        self.control, self.channel = control, channel
        self.changed = threading.Condition()
        self.guests = self.leaving = self.said = 0
        wire.send(channel, {"doors": doors})
        self.doors = list(zip(_take_listeners(channel), doors))
        wire.send(control, {"open": True})

    def serve(self):
        """Serves connections until init, and with it every process of the run, is dead."""
        threading.stack_size(_STACK_BYTES)
        with selectors.DefaultSelector() as selector:
            selector.register(self.channel, selectors.EVENT_READ, None)
            for listener, door in self.doors:
                selector.register(listener, selectors.EVENT_READ, (listener, door))
            while True:
                knocked = [key.data for key, _ in selector.select()]
                if None in knocked:
                    break
                for listener, door in knocked:
                    self._admit(listener, door)
        self._send_the_rest()

    def _admit(self, listener, door):
        """False if no client is connecting."""
        try:
            inner, _ = listener.accept()
        except OSError:
            return False
        with self.changed:
            has_room = self.guests < MOST_CONNECTIONS
            self.guests += has_room
            self.leaving += has_room
        target = self._target_of(door, inner) if has_room else door
        if has_room:
            threading.Thread(target=self._carry, args=(inner, target), daemon=True).start()
        else:
            self._note(f"more than {MOST_CONNECTIONS} connections at a time - close those that are not needed")
            _reset(inner)
        return True

    def _target_of(self, door, inner):
        """
        For a range, a door to the requested address; its host is empty if no range with this port allows the address.
        """
        if not door.is_range:
            return door
        address = inner.getsockname()[0]
        is_allowed = any(other.port == door.port and other.leads_to(address) for _, other in self.doors)
        return door._replace(address=address, host=address if is_allowed else "")

    def _carry(self, inner, door):
        """Serves one connection. It counts as leaving until all bytes of the code are sent."""
        outer = self._reach(door)
        if outer is None:
            _reset(inner)
            self._count(leaving=-1, guests=-1)
            return
        with inner, outer:
            back = threading.Thread(target=_pump, args=(outer, inner), daemon=True)
            back.start()
            _pump(inner, outer)
            self._count(leaving=-1)
            back.join()
        self._count(guests=-1)

    def _reach(self, door):
        if door.host == "":
            self._note(f"{door.address}:{door.port} is in none of the ranges that are allowed")
            return None
        try:
            return _connect(door)
        except (OSError, ValueError) as error:  # ValueError: the name cannot be looked up
            self._note(f"{door.host}:{door.port} cannot be reached: {getattr(error, 'strerror', None) or error}")
            return None

    def _count(self, leaving=0, guests=0):
        with self.changed:
            self.leaving += leaving
            self.guests += guests
            self.changed.notify_all()

    def _note(self, text):
        with self.changed, contextlib.suppress(OSError):
            self.said += 1
            if self.said <= _MOST_NOTES:
                wire.send(self.control, {"note": text})

    def _send_the_rest(self):
        """
        Waits until the bytes that the code wrote before its death are sent, as the system would do without a porter.
        """
        for listener, door in self.doors:
            while self._admit(listener, door):
                continue
        with self.changed:
            self.changed.wait_for(lambda: self.leaving == 0, _LAST_WORDS_SECONDS)


def hand_over(channel, listeners):
    """Sends listening sockets to `_take_listeners`, in batches, because the system limits descriptors per message."""
    for start in range(0, len(listeners), _SOCKETS_A_MESSAGE):
        batch = listeners[start : start + _SOCKETS_A_MESSAGE]
        socket.send_fds(channel, [_SOME], [listener.fileno() for listener in batch])
    channel.sendall(_ALL)
    for listener in listeners:
        listener.close()


def _take_listeners(channel):
    listeners = []
    while (part := socket.recv_fds(channel, 1, _SOCKETS_A_MESSAGE))[0] == _SOME:
        listeners += [socket.socket(fileno=file) for file in part[1]]
    if part[0] != _ALL:
        raise ConnectionError("the run's network could not be made")
    for listener in listeners:
        listener.setblocking(False)
    return listeners


def _connect(door):
    """
    Connects to the door's host. Refuses a name that resolves to this machine or to its link, as a rebound name does.
    """
    found = _resolve(door)
    addresses = [where for where in found if not (door.is_named and door.host != "localhost" and _is_near(where[4][0]))]
    problem = OSError(f"it leads to {found[0][4][0]}, which has to be allowed by its address")
    if door.port in here.E2B_PORTS and any(here.is_near(here.plain(where[4][0])) for where in found):
        raise OSError("it is a port of the sandbox's own")
    for family, kind, protocol, _, address in addresses:
        outer = socket.socket(family, kind, protocol)
        try:
            outer.settimeout(_CONNECT_SECONDS)
            outer.connect(address)
            outer.settimeout(None)
            return outer
        except OSError as error:
            outer.close()
            problem = error
    raise problem


def _resolve(door):
    """Uses the addresses that were looked up when the node started, if there are any."""
    hosts = [door.host] if door.addresses is None else door.addresses
    if not hosts:
        raise OSError("Name or service not known")
    return [each for host in hosts for each in socket.getaddrinfo(host, door.port, type=socket.SOCK_STREAM)]


def _is_near(text):
    address = here.plain(text)
    return here.is_within(address) or address.is_link_local or address.is_multicast


def _pump(source, target):
    """Copies one direction. Passes on its end; an error ends both directions."""
    try:
        while data := source.recv(_CHUNK_BYTES):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _reset(inner):
    """Resets a connection, because an accepted connection can no longer be refused."""
    with contextlib.suppress(OSError):
        inner.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    inner.close()
