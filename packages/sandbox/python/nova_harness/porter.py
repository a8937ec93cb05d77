"""
The process outside of a run's network that carries what comes through its doors to the real hosts, and back. It is
forked ahead of time, holds no capabilities, hears which doors there are and takes their listening sockets; when the run
is over, it sends on what the code has written and ends.
"""

import contextlib
import os
import select
import signal
import socket
import traceback

from . import jail, netns, wire
from .allow import Door
from .carriers import Carriers, hand_over


def hire():
    """A porter, and the socket at which a run's init has to keep the gate for it."""
    control, theirs = socket.socketpair()
    gatehouse, channel = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        _become_porter(theirs, channel)
    theirs.close()
    channel.close()
    return Porter(pid, control), gatehouse


class Porter:
    """The daemon's end."""

    def __init__(self, pid, control):
        self.pid, self.control = pid, control
        self.reader = wire.Reader(control, takes_files=False)

    def open(self, doors):
        """Waits until code can knock. False when the network took no such doors: init says why, and dies."""
        with contextlib.suppress(OSError):
            wire.send(self.control, {"doors": doors})
            return self.reader.read() is not None
        return False

    def notes(self):
        """What it has to say for the run's log; None when it has ended."""
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
        """The same without waiting for any; it is said before the code can know of it."""
        is_there = self.control.fileno() >= 0 and select.select([self.control], [], [], 0)[0]
        return (self.notes() or []) if is_there else []

    def bury(self):
        """It ends by itself soon after the run; of a run that never began it need not."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.control.close()


def keep_gate(gatehouse):
    """In the run's init: opens the doors that the porter names. The end of this socket is the end of the run."""
    message = wire.Reader(gatehouse, takes_files=False).read()
    if message is None:
        return
    hand_over(gatehouse, netns.open_doors([Door(*door) for door in message["doors"]]))


def _become_porter(control, channel):
    """Never returns."""
    try:
        jail.die_with_parent()
        jail.close_all_but(control.fileno(), channel.fileno())
        jail.give_up_rights()
        message = wire.Reader(control, takes_files=False).read()
        if message:
            Carriers(control, channel, [Door(*door) for door in message["doors"]]).serve()
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(0)
