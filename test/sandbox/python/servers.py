"""Servers on this machine, whose network the test sandboxes use."""

import contextlib
import hashlib
import socket
import threading


class Server:
    """Answers each connection with `answer(received data)`; `visits` holds the received data."""

    def __init__(self, answer=lambda data: data, address="127.0.0.1"):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.answer, self.visits, self.changed = answer, [], threading.Condition()
        self.listener = socket.create_server((address, 0), family=family, backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._receive, args=(connection,), daemon=True).start()

    def _receive(self, connection):
        data = bytearray()
        with connection, contextlib.suppress(OSError):
            while part := connection.recv(1 << 16):
                data += part
            connection.sendall(self.answer(bytes(data)))
        with self.changed:
            self.visits.append(bytes(data))
            self.changed.notify_all()

    def await_visits(self, count):
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.visits) >= count, 10):
                raise TimeoutError(f"{len(self.visits)} of {count} connections have ended")
        return self.visits

    def close(self):
        self.listener.close()


def digest_and_back(data):
    return hashlib.sha256(data).hexdigest().encode() + data[::-1]


class Letterbox:
    """A UDP socket; `mail()` returns the received datagrams."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]

    def mail(self):
        with contextlib.suppress(BlockingIOError):
            return self.socket.recv(100)
        return None

    def close(self):
        self.socket.close()
