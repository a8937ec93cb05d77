"""A kernel as the agent sees it: its pid, and this side of its three channels: control, stdout and stderr."""

import json
import os
import signal
import socket
import traceback

from . import kernel
from .loop import forget_parent


class KernelProcess:
    def __init__(self, limits):
        self.control, control = socket.socketpair()
        self.stdout, stdout = os.pipe()
        self.stderr, stderr = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                forget_parent({control.fileno(), stdout, stderr})
                limits.bind()
                kernel.run(control, stdout, stderr)
            except BaseException:
                os.write(stderr, traceback.format_exc().encode())
            finally:
                os._exit(70)
        control.close()
        os.close(stdout)
        os.close(stderr)
        os.set_blocking(self.stdout, False)
        os.set_blocking(self.stderr, False)
        self.received = bytearray()

    @property
    def outputs(self):
        return ((self.stdout, "stdout"), (self.stderr, "stderr"))

    def tell(self, kind, message):
        try:
            kernel.write_frame(self.control, kind, json.dumps(message).encode())
        except ConnectionError:
            return  # The kernel is dead. The agent notices its end next.

    def receive(self):
        """Reads what the kernel has sent, so that `take_frame` can return it. Returns the number of bytes; None if the
        kernel has closed the channel."""
        try:
            data = self.control.recv(1 << 20, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0
        except ConnectionError:
            return None
        self.received += data
        return len(data) or None

    def take_frame(self):
        """Returns the next complete frame as (kind, payload), or None if there is none yet."""
        if len(self.received) < kernel.HEADER.size:
            return None
        kind, size = kernel.HEADER.unpack_from(self.received)
        end = kernel.HEADER.size + size
        if len(self.received) < end:
            return None
        payload = bytes(self.received[kernel.HEADER.size : end])
        del self.received[:end]
        return kind, payload

    def interrupt(self):
        """Interrupts the whole process group, as Jupyter does. The group contains the processes that the cell has
        started and not detached."""
        self._signal_group(signal.SIGINT)

    def end(self, loop):
        self.close(loop)
        self._signal_group(signal.SIGKILL)

    def close(self, loop):
        for fd in (self.control.fileno(), self.stdout, self.stderr):
            loop.watch(fd)
        self.control.close()
        os.close(self.stdout)
        os.close(self.stderr)

    def _signal_group(self, number):
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return  # The kernel has just ended, or it has not started yet.
