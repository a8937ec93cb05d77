"""A process outside a run's network namespace that relays connections at its doors to the real hosts. It is forked in
advance and has no capabilities. It receives the doors and their listening sockets. After the run it sends the remaining
bytes of the code and ends."""

import contextlib
import os
import selectors
import signal
import socket
import struct
import threading
import traceback

from . import here, jail, netns, wire
from .allow import Door

MOST_CONNECTIONS = 64
_CHUNK_BYTES = 1 << 16
_CONNECT_SECONDS = 30
_LAST_BYTES_SECONDS = 2
_MOST_NOTES = 20
_SOCKETS_A_MESSAGE = 100
_STACK_BYTES = 1 << 18
_SOME, _ALL = b".", b"!"
_AT_ONCE = struct.pack("ii", 1, 0)


class RelayLoop:
    def __init__(self, control, channel, doors):
        self.control, self.channel = control, channel
        self.changed = threading.Condition()
        self.connected = self.leaving = self.noted = 0
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
                ready = [key.data for key, _ in selector.select()]
                if None in ready:
                    break
                for listener, door in ready:
                    self._admit(listener, door)
        self._send_the_rest()

    def _admit(self, listener, door):
        """Accepts a connection of the code at a door, and starts to relay it to the allowed host. False if no client is
        connecting."""
        try:
            inner, _ = listener.accept()
        except OSError:
            return False
        with self.changed:
            has_room = self.connected < MOST_CONNECTIONS
            self.connected += has_room
            self.leaving += has_room
        target = self._target_of(door, inner) if has_room else door
        if has_room:
            threading.Thread(target=self._carry, args=(inner, target), daemon=True).start()
        else:
            self._note(f"more than {MOST_CONNECTIONS} connections at a time - close those that are not needed")
            _reset(inner)
        return True

    def _target_of(self, door, inner):
        """Returns the door to use for a connection. For a range of addresses, returns a door to the requested address.
        The host of that door is empty if no allowed range with this port contains the address."""
        if not door.is_range:
            return door
        address = inner.getsockname()[0]
        is_allowed = any(other.port == door.port and other.leads_to(address) for _, other in self.doors)
        return door._replace(address=address, host=address if is_allowed else "")

    def _carry(self, inner, door):
        """Serves one connection. The connection counts in `leaving` until all bytes that the code wrote are sent."""
        outer = self._reach(door)
        if outer is None:
            _reset(inner)
            self._count(leaving=-1, connected=-1)
            return
        with inner, outer:
            back = threading.Thread(target=_pump, args=(outer, inner), daemon=True)
            back.start()
            _pump(inner, outer)
            self._count(leaving=-1)
            back.join()
        self._count(connected=-1)

    def _reach(self, door):
        if door.host == "":
            self._note(f"{door.address}:{door.port} is in none of the ranges that are allowed")
            return None
        try:
            return _connect(door)
        except (OSError, ValueError) as error:  # A ValueError means that the name cannot be looked up.
            self._note(f"{door.host}:{door.port} cannot be reached: {getattr(error, 'strerror', None) or error}")
            return None

    def _count(self, leaving=0, connected=0):
        with self.changed:
            self.leaving += leaving
            self.connected += connected
            self.changed.notify_all()

    def _note(self, text):
        with self.changed, contextlib.suppress(OSError):
            self.noted += 1
            if self.noted <= _MOST_NOTES:
                wire.send(self.control, {"note": text})

    def _send_the_rest(self):
        """Waits until the bytes that the code wrote before its end are sent. Without a relay, the system would send
        these bytes."""
        for listener, door in self.doors:
            while self._admit(listener, door):
                continue
        with self.changed:
            self.changed.wait_for(lambda: self.leaving == 0, _LAST_BYTES_SECONDS)


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
    """Connects to the allowed host to which a door leads. Refuses a name that resolves to this machine or its link (DNS
    rebinding)."""
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
    """Copies the bytes of a connection from `source` to `target`. At the end of `source`, ends the stream to `target`.
    An error ends both directions."""
    try:
        while data := source.recv(_CHUNK_BYTES):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _reset(inner):
    """Resets a connection of the code. The relay has accepted this connection already, so it can no longer refuse
    it."""
    with contextlib.suppress(OSError):
        inner.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    inner.close()


def fork_relay():
    """Forks a relay. Returns it and the socket ("doors_channel") over which the run's init sends the listening
    sockets."""
    control, theirs = socket.socketpair()
    doors_channel, channel = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        _become_relay(theirs, channel)
    theirs.close()
    channel.close()
    return Relay(pid, control), doors_channel


class Relay:
    """Represents a relay process in the daemon."""

    def __init__(self, pid, control):
        self.pid, self.control = pid, control
        self.reader = wire.Reader(control, takes_files=False)

    def open(self, doors):
        """Waits until the doors, which lead to allowed hosts, accept connections. False if the network refused a door:
        init reports why, and dies."""
        with contextlib.suppress(OSError):
            wire.send(self.control, {"doors": doors})
            return self.reader.read() is not None
        return False

    def notes(self):
        """Returns notes for the run's log; None after the relay has ended."""
        try:
            if not self.reader.fill():
                return None
        except OSError:
            return None
        said = []
        while (message := self.reader.take()) is not None:
            said.append(message["note"])
        return said

    def notes_so_far(self):
        """Returns the available notes without waiting. The relay notes a failure before the code can see it."""
        is_there = self.control.fileno() >= 0 and wire.is_readable(self.control)
        return (self.notes() or []) if is_there else []

    def kill(self):
        """Kills the relay. It may still wait for a run that never started."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.control.close()


def open_requested_doors(doors_channel):
    """Runs in the run's init: opens the doors that the relay requests. The socket closes when the run has ended."""
    message = wire.Reader(doors_channel, takes_files=False).read()
    if message is None:
        return
    hand_over(doors_channel, netns.open_doors([Door(*door) for door in message["doors"]]))


def _become_relay(control, channel):
    """Turns the process into a relay, and never returns."""
    try:
        jail.die_with_parent()
        jail.close_all_but(control.fileno(), channel.fileno())
        jail.give_up_rights()
        message = wire.Reader(control, takes_files=False).read()
        if message:
            RelayLoop(control, channel, [Door(*door) for door in message["doors"]]).serve()
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(0)
