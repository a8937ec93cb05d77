"""Connects code in its own network namespace to any host but this machine. Each `connect` of a run waits for the guard.
The guard makes connections to the outside in the sandbox's network and replaces the code's socket with the connected
one. The guard also makes the connections inside the namespace. It connects to the address that it has read, so code
gains nothing if it changes the address or the socket meanwhile. The kernel holds each call until the guard answers it,
see seccomp_unotify(2)."""

import contextlib
import ctypes
import errno
import fcntl
import ipaddress
import os
import select
import socket
import stat
import struct
from typing import NamedTuple

from . import here, linux, seccomp

_RECEIVE, _ANSWER, _IS_WAITING, _ADD_DESCRIPTOR = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103
_NOTICE = struct.Struct("=QIIiIQ6Q")
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438
_IN_ITS_PLACE = 1


class Notice(NamedTuple):
    """A held system call. `task` is the id of the calling thread in this process's namespace."""

    id: int
    task: int
    call: int
    arguments: tuple


def _receive(listener):
    """Returns the next call; None if its caller has died. Blocks if there is no call, so poll first."""
    buffer = bytearray(_NOTICE.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, buffer)
    except OSError:
        return None
    number, task, _, call, _, _, *arguments = _NOTICE.unpack(buffer)
    return Notice(number, task, call, tuple(arguments))


def _is_waiting(listener, notice):
    """True if the caller still waits. In that case, all data that was read before this check came from this caller, and
    not from a later process with the same id."""
    try:
        fcntl.ioctl(listener, _IS_WAITING, struct.pack("=Q", notice.id))
    except OSError:
        return False
    return True


def _answer(listener, notice, error=0):
    with contextlib.suppress(OSError):  # The caller has died.
        fcntl.ioctl(listener, _ANSWER, struct.pack("=QqiI", notice.id, 0, -error, 0))


def _replace(listener, notice, place, fd):
    """Puts a copy of `fd` at the caller's descriptor `place`."""
    with open(f"/proc/{notice.task}/fdinfo/{place}") as about:
        flags = next(int(line.split()[1], 8) for line in about if line.startswith("flags:"))
    request = struct.pack("=QIIII", notice.id, _IN_ITS_PLACE, fd, place, flags & os.O_CLOEXEC)
    fcntl.ioctl(listener, _ADD_DESCRIPTOR, request)


def _take_socket(notice, place):
    """Returns a copy of the caller's socket. Raises OSError with the caller's error if the descriptor is no socket."""
    with open(f"/proc/{notice.task}/status") as status:
        process = next(int(line.split()[1]) for line in status if line.startswith("Tgid:"))
    pidfd = linux.call("pidfd_open", _PIDFD_OPEN, process, 0)
    try:
        return socket.socket(fileno=linux.call("pidfd_getfd", _PIDFD_GETFD, pidfd, place, 0))
    finally:
        os.close(pidfd)


def _read_memory(notice, address, size):
    fd = os.open(f"/proc/{notice.task}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(fd, size, address)
    finally:
        os.close(fd)


_LONGEST_ADDRESS = 128
_NETNS_COOKIE = 71
_OPENAT2, _IN_ROOT_WITHOUT_MAGIC = 437, 0x12
_MOST_NOTES = 20
_CLOSED = b"\7"
_HOSTS = (socket.AF_INET, socket.AF_INET6)
_OF_TCP = ("TCP_NODELAY", "TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT")
_KEPT = [
    *((socket.SOL_SOCKET, option, size) for option, size in ((socket.SO_KEEPALIVE, 4), (socket.SO_LINGER, 8))),
    *((socket.SOL_SOCKET, option, 16) for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO)),
    *((socket.IPPROTO_TCP, getattr(socket, name), 4) for name in _OF_TCP if hasattr(socket, name)),
]


class Waiting(NamedTuple):
    """A caller whose connection to `address`, a raw sockaddr, is in progress."""

    notice: Notice
    sock: socket.socket
    address: bytes
    # The socket that replaces the caller's own; None if the caller keeps its own socket.
    outer: socket.socket = None
    # A descriptor that is kept open because `address` names its path.
    opened: int = None


class Guard:
    """`near` holds each (host, port) of this machine to which the code may connect."""

    def __init__(self, listener, names, nameservers, user, near, note):
        self.listener, self.user, self.near, self.note = listener, user, near, note
        self.epoll, self.handlers, self.notes = select.epoll(), {}, 0
        with socket.socket() as any_socket:
            self.cookie = _network_of(any_socket)
        self.connecting = {}  # Callers whose connection is in progress, by the descriptor that this process watches.
        self.queue = []  # Callers that wait because the backlog of a listener is full.
        self.names = Names(self, names, nameservers)
        self.watch(listener, select.EPOLLIN, self._hear)

    def fileno(self):
        return self.epoll.fileno()

    def serve(self):
        for fd, events in self.epoll.poll(0):
            if handler := self.handlers.get(fd):
                try:
                    handler(events)
                except Exception as error:  # An error that hostile code causes must not end this process.
                    self.note([f"a connection could not be made: {error!r}"])

    def watch(self, fd, events, handler):
        self.epoll.register(fd, events)
        self.handlers[fd] = handler

    def forget(self, fd):
        self.connecting.pop(fd, None)
        if self.handlers.pop(fd, None):
            self.epoll.unregister(fd)

    def close(self):
        """Closes all files. Callers that still wait are dead, so their files are closed, too."""
        self.epoll.close()
        for waiting in (*self.connecting.values(), *self.queue):
            self._close_files(waiting)
        self.handlers.clear()
        os.close(self.listener)
        self.names.close()

    def _hear(self, events):
        if not events & select.EPOLLIN:  # All processes that could make a call are dead.
            self.forget(self.listener)
        elif notice := _receive(self.listener):
            try:
                self._obey(notice)
            except Exception as error:  # The arguments of a call can be anything, so any error is possible.
                _answer(self.listener, notice, getattr(error, "errno", None) or errno.EINVAL)

    def _obey(self, notice):
        place, address, size = notice.arguments[:3]
        sock = _take_socket(notice, _int(place))
        if seccomp.is_listen(notice.call):
            self._listen(notice, sock, _int(address))
            return
        raw = _read_memory(notice, address, max(0, min(_int(size), _LONGEST_ADDRESS)))
        if not _is_waiting(self.listener, notice):
            return
        family = struct.unpack_from("=H", raw)[0] if len(raw) > 1 else -1
        if sock.family == socket.AF_UNIX == family:
            self._connect_inside(self._to_own_socket(notice, sock, raw))
        elif sock.family in _HOSTS and family in _HOSTS:
            self._connect_host(notice, sock, raw)
        elif self._is_outside(sock):
            raise OSError(errno.EAFNOSUPPORT, "a connection cannot be taken back")
        else:
            self._connect_inside(Waiting(notice, sock, raw))

    def _listen(self, notice, sock, backlog):
        if self._is_outside(sock):
            raise OSError(errno.EINVAL, "only sockets of its own network may listen")
        sock.listen(max(0, backlog))
        _answer(self.listener, notice)

    def _is_outside(self, sock):
        return _network_of(sock) == self.cookie

    def _connect_host(self, notice, sock, raw):
        address, port = _host_of(raw)
        if sock.type != socket.SOCK_STREAM:
            self._connect_datagrams(notice, sock, address, raw)
        elif server := self.names.find_server(str(address), port):
            self._connect_outside(notice, sock, *server)
        elif (str(address), port) in self.near and port not in here.E2B_PORTS:
            self._connect_outside(notice, sock, sock.family, raw)
        elif here.is_within(address) and not self._is_outside(sock):
            self._connect_inside(Waiting(notice, sock, raw))
        elif here.is_near(address):
            self._say_near(address, port)
            raise OSError(errno.ENETUNREACH, "this machine's own")
        else:
            self._connect_outside(notice, sock, sock.family, raw)

    def _connect_datagrams(self, notice, sock, address, raw):
        """Keeps datagrams inside the namespace, where they reach only the run's own programs and the name servers."""
        if self._is_outside(sock):
            raise OSError(errno.ENETUNREACH, "no datagram leaves")
        self._connect_inside(Waiting(notice, sock, raw))

    def _connect_outside(self, notice, sock, family, raw):
        outer = socket.socket(family, socket.SOCK_STREAM)
        outer.setblocking(False)
        _keep_options(sock, outer)
        waiting = Waiting(notice, sock, raw, outer)
        error = _connect(outer, raw)
        if error == errno.EINPROGRESS and _is_blocking(sock):
            self._await_connection(outer, waiting, self._arrive)
        else:
            self._hand_over(waiting, error)

    def _await_connection(self, sock, waiting, handler):
        self.connecting[sock.fileno()] = waiting
        self.watch(sock.fileno(), select.EPOLLOUT, lambda _: handler(waiting))

    def _arrive(self, waiting):
        self.forget(waiting.outer.fileno())
        self._hand_over(waiting, waiting.outer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))

    def _hand_over(self, waiting, error):
        if error in (0, errno.EINPROGRESS):
            waiting.outer.setblocking(_is_blocking(waiting.sock))
            with contextlib.suppress(OSError):  # The caller has died, or it has closed its socket meanwhile.
                place = _int(waiting.notice.arguments[0])
                _replace(self.listener, waiting.notice, place, waiting.outer.fileno())
        self._end(waiting, error)

    def _connect_inside(self, waiting):
        """Connects inside the namespace without blocking, because the connection may never be accepted."""
        is_blocking = _is_blocking(waiting.sock)
        waiting.sock.setblocking(False)
        error = _connect(waiting.sock, waiting.address)
        if is_blocking and error == errno.EINPROGRESS:
            self._await_connection(waiting.sock, waiting, self._conclude)
            return
        waiting.sock.setblocking(is_blocking)
        if is_blocking and error == errno.EAGAIN:
            self.queue.append(waiting)
            return
        if waiting.sock.family in _HOSTS and _is_refused(waiting.sock, error):
            self._say_near(*_host_of(waiting.address))
        self._end(waiting, error)

    def _conclude(self, waiting):
        self.forget(waiting.sock.fileno())
        waiting.sock.setblocking(True)
        self._end(waiting, waiting.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))

    def try_again(self):
        queue, self.queue = self.queue, []
        for waiting in queue:
            if _is_waiting(self.listener, waiting.notice):
                self._connect_inside(waiting)
            else:
                self._close_files(waiting)

    def _to_own_socket(self, notice, sock, raw):
        """Allows Unix sockets in the file tree only if the code has created them: all other sockets there belong to
        other programs."""
        path = raw[2:].partition(b"\0")[0]
        if not path:
            return Waiting(notice, sock, raw)
        if not path.startswith(b"/"):
            path = os.fsencode(os.readlink(f"/proc/{notice.task}/cwd")) + b"/" + path
        found = _open_within(f"/proc/{notice.task}/root", path)
        seen = os.fstat(found)
        if not stat.S_ISSOCK(seen.st_mode) or seen.st_uid != self.user:
            os.close(found)
            raise OSError(errno.ECONNREFUSED, "not the code's own")
        stands_for_it = struct.pack("=H", socket.AF_UNIX) + f"/proc/self/fd/{found}\0".encode()
        return Waiting(notice, sock, stands_for_it, opened=found)

    def _end(self, waiting, error):
        self._close_files(waiting)
        _answer(self.listener, waiting.notice, error)

    def _close_files(self, waiting):
        if waiting.outer:
            waiting.outer.close()
        if waiting.opened is not None:
            os.close(waiting.opened)
        waiting.sock.close()

    def _say_near(self, address, port):
        self.notes += 1
        if self.notes <= _MOST_NOTES:
            self.note([f"{address}:{port} is on this machine, which code cannot reach - name it in network.allow"])


def _int(word):
    """Converts an argument of 64 bits to a C int: the lower half of the argument."""
    return struct.unpack("=i", struct.pack("=I", word & 0xFFFFFFFF))[0]


def _network_of(sock):
    return sock.getsockopt(socket.SOL_SOCKET, _NETNS_COOKIE, 8)


def _host_of(raw):
    """Returns (address, port) of a raw sockaddr."""
    (family,) = struct.unpack_from("=H", raw)
    start, size = (8, 16) if family == socket.AF_INET6 else (4, 4)
    packed = raw[start : start + size]
    if len(packed) < size:
        raise OSError(errno.EINVAL, "too short for an address")
    text = socket.inet_ntop(family, packed)
    return here.plain(text), struct.unpack_from("!H", raw, 2)[0]


def _connect(sock, raw):
    """Connects a socket. Returns the error number, or 0 if there is none."""
    failed = linux.libc.connect(sock.fileno(), raw, len(raw)) != 0
    return ctypes.get_errno() if failed else 0


def _is_refused(sock, error):
    """True if a connection was refused. Inside one machine, the kernel reports that at once, also for a non-blocking
    socket."""
    is_late = error == errno.EINPROGRESS and sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) == _CLOSED
    return is_late or error == errno.ECONNREFUSED


def _is_blocking(sock):
    return not fcntl.fcntl(sock, fcntl.F_GETFL) & os.O_NONBLOCK


def _keep_options(sock, outer):
    for level, option, size in _KEPT:
        with contextlib.suppress(OSError):  # This kind of socket does not have the option.
            outer.setsockopt(level, option, sock.getsockopt(level, option, size))


def _open_within(root, path):
    """Opens a path inside `root`, and follows links like a process whose root folder is `root`."""
    folder = os.open(root, os.O_PATH | os.O_CLOEXEC)
    try:
        how = struct.pack("=3Q", os.O_PATH | os.O_CLOEXEC, 0, _IN_ROOT_WITHOUT_MAGIC)
        return linux.call("openat2", _OPENAT2, folder, path + b"\0", how, len(how))
    finally:
        os.close(folder)


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
        """Returns (family, raw sockaddr) of the name server at an inner address, for DNS over TCP; None for any other
        address."""
        server = self.servers.get((address, port))
        return server and _server_address(server)

    def _ask(self, inner, server):
        question, who = inner.recvfrom(_LONGEST_BYTES)
        outer = socket.socket(_family(server), socket.SOCK_DGRAM)
        try:
            outer.connect((server, _PORT))
            outer.send(question)
        except OSError:
            outer.close()  # The resolver of the code repeats the query.
            return
        if len(self.asked) == _MOST_QUESTIONS:
            self._end(self.asked[0])
        self.asked.append(outer)
        self.guard.watch(outer.fileno(), select.EPOLLIN, lambda _: self._answer(inner, who, outer))

    def _answer(self, inner, who, outer):
        try:
            inner.sendto(outer.recv(_LONGEST_BYTES), who)
        except OSError:
            pass  # The name server does not answer, or the process of the code that asked has ended.
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


def _server_address(server):
    packed = ipaddress.ip_address(server.partition("%")[0]).packed
    port = struct.pack("!H", _PORT)
    if len(packed) == 4:
        return socket.AF_INET, struct.pack("=H", socket.AF_INET) + port + packed + bytes(8)
    return socket.AF_INET6, struct.pack("=H", socket.AF_INET6) + port + bytes(4) + packed + bytes(4)
