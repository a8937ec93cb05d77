"""A sandbox as the zygote sees it: an isolated agent process that the zygote has forked, and the connection that keeps
the sandbox alive."""

import itertools
import json
import os
import signal
import socket
import traceback

from . import agent, enclosure, linux, processes
from .loop import forget_parent

_serial = itertools.count()


class Sandbox:
    """`own_pids` is a file descriptor of the zygote's own pid namespace; None without isolation."""

    def __init__(self, settings, own_pids, internet):
        self.settings, self.own_pids, self.lifeline = settings, own_pids, None
        self.name = f"{os.getpid()}-{next(_serial)}"
        listener = listen(settings["sockets"], self.name)
        self.channel, theirs = socket.socketpair()
        ids = enclosure.Ids(settings["blocks"], settings["blockIds"])
        self.map = ids.map
        self.pid = self._fork()
        if self.pid == 0:
            _become_agent(settings, listener, theirs, ids if own_pids is not None else None, internet)
        ids.register.close()
        listener.close()
        theirs.close()

    def _fork(self):
        """Forks a child that is pid 1 of a new pid namespace. Then returns to the zygote's own pid namespace, so that
        later forks start from there."""
        if self.own_pids is None:
            return os.fork()
        linux.unshare(linux.NEWPID)
        pid = -1
        try:
            pid = os.fork()
        finally:
            if pid != 0:
                linux.setns(self.own_pids, linux.NEWPID)
        return pid

    def await_enclosure(self):
        """Waits until the sandbox asks for the user ids of its namespace, and sets them, because only a process outside
        the namespace can do that."""
        if self.own_pids is None:
            return
        asked = self.channel.recv(4096)
        if asked != b"map":
            raise ChildProcessError(f"a sandbox could not be closed off: {asked.decode() or 'its process died'}")
        enclosure.write_map(self.pid, self.map)
        self.channel.sendall(b".")

    def hand_over(self, request, connection):
        self.channel.sendall(json.dumps(request).encode() + b"\n")
        self.channel.close()
        self.lifeline = connection
        connection.sendall(json.dumps({"socket": self.name}).encode() + b"\n")

    def kill(self):
        """Kills the sandbox. With the first process of a pid namespace the kernel kills all others. Without a
        namespace, this method finds the processes of the sandbox and kills each of them."""
        if self.own_pids is None:
            processes.kill_family(self.pid)
        else:
            processes.send_signal(self.pid, signal.SIGKILL)


def _become_agent(settings, listener, channel, ids, internet):
    """Turns the forked process into an agent. `ids` is the sandbox's block of user ids; None without isolation."""
    try:
        forget_parent({listener.fileno(), channel.fileno(), *([ids.register.fileno()] if ids else [])})
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1):
            os.dup2(null, fd)

        def await_map():
            channel.sendall(b"map")
            channel.recv(1)

        if ids:
            enclosure.enclose(internet, settings["diskBytes"], settings["userId"], ids, await_map)
        agent.Agent(settings, listener, channel).serve()
    except BaseException as error:
        try:
            traceback.print_exc()
            channel.sendall(f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(1)


def listen(folder, name):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/{name}")
    listener.listen(128)
    listener.setblocking(False)
    return listener
