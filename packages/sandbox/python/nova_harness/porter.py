"""
A process outside a run's network namespace that relays connections at its doors to the real hosts. It is forked in
advance and has no capabilities. It receives the doors and their listening sockets. After the run it sends the remaining
bytes of the code and ends.
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
    """Forks a porter. Returns it and the socket ("gatehouse") over which the run's init sends the listening sockets."""
    control, theirs = socket.socketpair()
    gatehouse, channel = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        _become_porter(theirs, channel)
    theirs.close()
    channel.close()
    return Porter(pid, control), gatehouse


class Porter:
    """The daemon's handle of a porter."""

    def __init__(self, pid, control):
        self.pid, self.control = pid, control
        self.reader = wire.Reader(control, takes_files=False)

    def open(self, doors):
        """
        Waits until the doors accept connections. False if the network refused a door: init then reports why, and dies.
        """
        with contextlib.suppress(OSError):
            wire.send(self.control, {"doors": doors})
            return self.reader.read() is not None
        return False

    def notes(self):
        """Returns notes for the run's log; None after the porter has ended."""
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
        """Returns the available notes without waiting. The porter notes a failure before the code can see it."""
        is_there = self.control.fileno() >= 0 and select.select([self.control], [], [], 0)[0]
        return (self.notes() or []) if is_there else []

    def bury(self):
        """Kills the porter, which may still wait for a run that never started."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.control.close()


def keep_gate(gatehouse):
    """
    Runs in the run's init: opens the doors that the porter requests. The socket's end tells the porter that the run
    ended.
    """
    message = wire.Reader(gatehouse, takes_files=False).read()
    if message is None:
        return
    hand_over(gatehouse, netns.open_doors([Door(*door) for door in message["doors"]]))


def _become_porter(control, channel):
    """Turns the process into a porter, and never returns."""
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
