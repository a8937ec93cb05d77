"""A connection for requests of the server. Requests and responses have the same form: a line of JSON, perhaps with a
body after it. A connection serves one request, or one after another if each asks to be kept ({"keep": true})."""

import collections
import json
import os

_READ = 1 << 18
_CONGESTED = 1 << 20
_SMALL = 1 << 12


class Connection:
    """Calls `dispatch(connection, request)` when the request has arrived. `dispatch` may set the callbacks on_body (a
    part of the body has arrived), on_end (the other side sends no more) and on_drained (everything has been sent)."""

    def __init__(self, loop, sock, dispatch):
        self.loop, self.sock, self.dispatch, self.next_dispatch = loop, sock, dispatch, None
        self.received = b""
        self.waiting = collections.deque()
        self.waiting_bytes = 0
        self.on_body = self.on_end = self.on_drained = None
        self.peer_open, self.finishing, self.closed, self.stalled = True, False, False, False
        sock.setblocking(False)
        loop.watch(sock.fileno(), self._readable)

    def _readable(self):
        if self.closed:
            return
        try:
            data = self.sock.recv(_READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._peer_ended()
        elif self.dispatch:
            self._collect_head(data)
        elif self.on_body:
            self.on_body(data)

    def _collect_head(self, data):
        self.received += data
        line, newline, rest = self.received.partition(b"\n")
        if newline:
            dispatch, self.dispatch, self.received = self.dispatch, None, b""
            request = json.loads(line)
            self.next_dispatch = dispatch if request.get("keep") else None
            dispatch(self, request)
            if rest and self.on_body:
                self.on_body(rest)

    def _peer_ended(self):
        self.peer_open = False
        on_end, self.on_end = self.on_end, None
        if on_end:
            on_end()
        if self.dispatch:
            self.close()
        if not self.closed:
            self._watch()

    def send(self, data):
        if self.closed:
            return
        self.waiting.append(data)
        self.waiting_bytes += len(data)
        self.stalled = self.stalled or self.congested
        self._write_soon()

    def send_json(self, value):
        self.send(json.dumps(value).encode() + b"\n")

    def answer(self, value):
        self.send_json(value)
        self.finish()

    def send_file(self, file, size):
        """Sends exactly `size` bytes of the open file and then closes it. If the file has fewer, it breaks the
        connection."""
        self.waiting.append([file, 0, size])
        self._write_soon()

    def finish(self):
        """Ends the response. Then closes the connection, or waits for the next request."""
        if self.next_dispatch and self.peer_open:
            self.dispatch, self.next_dispatch = self.next_dispatch, None
            return
        self.finishing = True
        if not self.waiting:
            self.close()

    @property
    def congested(self):
        return self.waiting_bytes > _CONGESTED

    def _write_soon(self):
        if len(self.waiting) == 1:
            self.loop.soon(self._writable)

    def _writable(self):
        try:
            while self.waiting and not self.closed:
                if not self._send_first():
                    break
        except BlockingIOError:
            pass
        except OSError:
            self._peer_ended()
            self.close()
        if not self.closed:
            self._after_writing()

    def _send_first(self):
        """Sends the first waiting item, or a part of it. Returns False if the other side takes no more for now."""
        self._join_small()
        first = self.waiting[0]
        if isinstance(first, list):
            return self._send_part_of_file(first)
        sent = self.sock.send(first)
        self.waiting_bytes -= sent
        if sent < len(first):
            self.waiting[0] = memoryview(first)[sent:]
            return False
        self.waiting.popleft()
        return True

    def _join_small(self):
        """Joins small writes, so that many lines cost one system call and one wake-up of the reader."""
        small = []
        while self.waiting and isinstance(self.waiting[0], bytes) and len(self.waiting[0]) < _SMALL:
            small.append(self.waiting.popleft())
        if small:
            self.waiting.appendleft(b"".join(small))

    def _send_part_of_file(self, part):
        file, offset, size = part
        if offset < size:
            sent = os.sendfile(self.sock.fileno(), file.fileno(), offset, min(size - offset, 1 << 30))
            if sent == 0:
                raise ConnectionError("the file became shorter while it was read")
            part[1] += sent
        if part[1] == size:
            file.close()
            self.waiting.popleft()
        return True

    def _after_writing(self):
        if self.finishing and not self.waiting:
            self.close()
            return
        self._watch()
        if self.stalled and not self.congested:
            self.stalled = False
            if self.on_drained:
                self.on_drained()

    def _watch(self):
        reading = self._readable if self.peer_open else None
        self.loop.watch(self.sock.fileno(), reading, self._writable if self.waiting else None)

    def close(self):
        if not self.closed:
            self.closed = True
            self.loop.watch(self.sock.fileno())
            self.sock.close()
