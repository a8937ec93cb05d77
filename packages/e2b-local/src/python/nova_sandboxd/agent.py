"""Pid 1 of a sandbox: answers the server's requests, forks the kernels, reads and writes files, and watches the limits.
It runs no user code, and no process in the sandbox can signal or trace it."""

import json
import os
import sys

from . import linux, processes
from .connection import Connection
from .files import Files, Refused
from .kernels import Kernels
from .loop import Loop, read_line
from .watchdog import Limits, Watchdog


class Agent:
    def __init__(self, settings, listener, channel):
        """`channel` delivers one line when a client gets this sandbox. Until then requests wait in the queue of
        `listener`."""
        self.isolated = settings["isolated"]
        if self.isolated:
            linux.set_dumpable(False)
        elif sys.platform == "linux":
            linux.adopt_orphans()
        root = "" if self.isolated else f"{settings['sockets']}/root-{os.getpid()}"
        self.environment = dict(os.environ)
        self._lay_home(root)
        self.listener, self.channel = listener, channel
        self.loop = Loop()
        self.files = Files(root)
        self.limits = Limits(settings)
        # The callback is set before the first kernel is forked, because a kernel may end as soon as it starts.
        self.loop.on_child_exit(lambda pid, _: self.kernels.ended(pid))
        self.kernels = Kernels(self.loop, self.limits, self.environment, lambda: self.watchdog.wake())
        self.watchdog = Watchdog(self.loop, self.limits, self.members, self.kernels.pids)

    def _lay_home(self, root):
        for name in ("/home/user", "/root", "/tmp"):
            os.makedirs(root + name, exist_ok=True)
        if root:
            self.environment.update(HOME=f"{root}/root", TMPDIR=f"{root}/tmp")
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(f"{root}/home/user")

    def serve(self):
        self.loop.watch(self.channel.fileno(), self._begin)
        self.loop.run()

    def _begin(self):
        try:
            line = read_line(lambda: self.channel.recv(65536))
        except ConnectionError:
            os._exit(0)  # The zygote has ended, or it no longer needs this sandbox.
        self.loop.watch(self.channel.fileno())
        self.channel.close()
        self.environment.update(json.loads(line)["environment"])
        self.kernels.default = self.kernels.create().id
        self.loop.watch(self.listener.fileno(), self._accept)

    def _accept(self):
        try:
            sock, _ = self.listener.accept()
        except BlockingIOError:
            return
        Connection(self.loop, sock, self._dispatch)

    def _dispatch(self, connection, request):
        try:
            answer = self._operate(connection, request)
        except Refused as refused:
            answer = refused.answer()
        except OSError as error:
            answer = {"error": {"code": "internal", "message": str(error)}}
        if answer is None:
            return
        if request["op"] == "write":
            # The server might not get a response that is sent in the middle of a body.
            connection.on_end = lambda: connection.answer(answer)
        else:
            connection.answer(answer)

    def _operate(self, connection, request):
        """Performs an operation and returns its answer; None if the operation answers later."""
        match request["op"]:
            case "execute":
                return self.kernels.execute(connection, request)
            case "write":
                return self.files.receive(connection, request["path"])
            case "read":
                return self.files.send(connection, request["path"])
            case "remove":
                return {"value": self.files.remove(request["path"])}
            case "contexts.create":
                return {"value": self.kernels.create().describe()}
            case "contexts.remove":
                return {"value": self.kernels.remove(request["context"])}

    def members(self):
        """Returns the processes of the sandbox, except this one."""
        if self.isolated:
            return [process for process in processes.all_processes() if process.pid != 1]
        return processes.descendants(os.getpid())
