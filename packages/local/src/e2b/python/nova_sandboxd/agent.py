"""
Pid 1 of a sandbox: it answers the server's requests, forks the kernels, runs commands, reads and writes files, watches
the limits. It runs no code of the user, and nobody in the sandbox can signal or trace it.
"""

import json
import os
import signal
import sys

from . import linux, processes, transfers
from .commands import Commands
from .connection import Connection
from .files import Files, Refused
from .kernels import Kernels
from .loop import Loop
from .watchdog import Limits, Watchdog


class Agent:
    def __init__(self, settings, listener, channel):
        """`channel` brings one line, when the sandbox gets an owner; requests wait in the listener's queue until then."""
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
        self.loop.on_child_exit(self._reap)
        self.files = Files(root, self.isolated, settings["userId"] == 0)
        self.limits = Limits(settings)
        self.kernels = Kernels(self.loop, self.limits, self.files, self.environment, lambda: self.watchdog.wake())
        self.watchdog = Watchdog(self.loop, self.limits, self.members, self.kernels.pids)
        self.commands = Commands(self)

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
        line = b""
        while not line.endswith(b"\n"):
            part = self.channel.recv(65536)
            if not part:
                os._exit(0)  # the zygote has ended, or wants this one no longer
            line += part
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
            answer = {"error": {"code": refused.code, "message": str(refused)}}
        except OSError as error:
            answer = {"error": {"code": "internal", "message": str(error)}}
        if answer is None:
            return
        if request["op"] == "write":
            connection.on_end = lambda: connection.answer(answer)  # in the middle of a body it might get lost
        else:
            connection.answer(answer)

    def _operate(self, connection, request):
        """None means that the operation answers by itself, later."""
        name = request["op"]
        if name in _STREAMING:
            return _STREAMING[name](self, connection, request)
        return {"value": _ANSWERING[name](self, request)}

    # --- processes --------------------------------------------------------------------------------

    def members(self):
        if self.isolated:
            return [process for process in processes.all_processes() if process.pid != 1]
        return processes.descendants(os.getpid())

    def _reap(self, pid, status):
        self.kernels.ended(pid)
        self.commands.ended(pid, status)

    def signal_members(self, number):
        processes.signal_all(self.members, number)


_STREAMING = {
    "execute": lambda agent, connection, ask: agent.kernels.execute(connection, ask),
    "write": lambda agent, connection, ask: transfers.receive_file(agent.files, connection, ask),
    "read": lambda agent, connection, ask: transfers.send_file(agent.files, connection, ask),
    "start": lambda agent, connection, ask: agent.commands.start(connection, ask),
    "connect": lambda agent, connection, ask: agent.commands.connect(connection, ask),
}

_ANSWERING = {
    "contexts.create": lambda agent, ask: agent.kernels.create(ask.get("language"), ask.get("cwd")).describe(),
    "contexts.list": lambda agent, _: agent.kernels.list(),
    "contexts.remove": lambda agent, ask: agent.kernels.remove(ask["context"]),
    "contexts.restart": lambda agent, ask: agent.kernels.restart(ask["context"]),
    "pause": lambda agent, _: agent.signal_members(signal.SIGSTOP),
    "resume": lambda agent, _: agent.signal_members(signal.SIGCONT),
    "stat": lambda agent, ask: agent.files.stat(ask["path"], ask.get("user")),
    "list": lambda agent, ask: agent.files.list(ask["path"], ask.get("user"), ask.get("depth") or 1),
    "makeDir": lambda agent, ask: agent.files.make_dir(ask["path"], ask.get("user")),
    "move": lambda agent, ask: agent.files.move(ask["source"], ask["destination"], ask.get("user")),
    "remove": lambda agent, ask: agent.files.remove(ask["path"], ask.get("user")),
    "processes": lambda agent, _: agent.commands.list(),
    "input": lambda agent, ask: agent.commands.send_input(ask),
    "closeStdin": lambda agent, ask: agent.commands.close_stdin(ask),
    "signal": lambda agent, ask: agent.commands.send_signal(ask),
}
