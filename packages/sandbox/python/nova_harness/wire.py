"""Messages between harness processes: one JSON object per line, optionally with open files."""

import array
import select
import socket
from json import dumps, loads

_MOST_FILES = 4
_LONGEST_BYTES = 1 << 20


def send(sock, message, files=(), flags=0):
    data = dumps(message).encode() + b"\n"
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
    # `socket.send_fds` ignores its flags, so this calls sendmsg.
    sent = sock.sendmsg([data], rights, flags) if files else 0
    if sent < len(data):
        sock.sendall(data[sent:], flags)


def is_readable(file, seconds=0):
    """Waits until a read of the file returns at once, with data or the end of the file. False if that is not so after
    `seconds`."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


class Reader:
    """Reads messages and files from a socket. If `takes_files` is false, the system closes received files."""

    def __init__(self, sock, takes_files=True):
        self.sock = sock
        self.space = socket.CMSG_LEN(_MOST_FILES * array.array("i").itemsize) if takes_files else 0
        self.buffer = b""
        self.files = []

    def take_no_more_files(self):
        self.space = 0

    def read(self):
        """Waits for the next message; None at the end."""
        while True:
            message = self.take()
            if message is not None or not self.fill():
                return message

    def fill(self):
        """Reads available data; False if the other end is closed."""
        data, control, _, _ = self.sock.recvmsg(1 << 16, self.space)
        for level, kind, payload in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                files = array.array("i")
                files.frombytes(payload[: len(payload) - len(payload) % files.itemsize])
                self.files.extend(files)
        self.buffer += data
        if len(self.buffer) > _LONGEST_BYTES:
            raise ValueError("a message is too long")
        return bool(data)

    def take(self):
        line, newline, rest = self.buffer.partition(b"\n")
        if not newline:
            return None
        self.buffer = rest
        return loads(line.decode())
