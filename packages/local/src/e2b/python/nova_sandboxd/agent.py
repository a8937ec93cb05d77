"""
Pid 1 of a sandbox: it answers the server's requests, forks the kernels, runs commands, reads and writes files, watches
the limits. It runs no code of the user, and nobody in the sandbox can signal or trace it.
"""

import json
import os
import signal
import sys

from . import linux, processes
from .commands import Commands
from .connection import Connection
from .contexts import Context, KernelProcess
from .files import Files, Refused
from .loop import Loop
from .watchdog import Limits, Watchdog

_SPARE_AFTER = 0.02


def run(settings, listener, channel):
    Agent(settings, listener, channel).serve()


class Agent:
    def __init__(self, settings, listener, channel):
        self.isolated = settings["isolated"]
        if self.isolated:
            linux.set_dumpable(False)
        elif sys.platform == "linux":
            linux.adopt_orphans()
        os.umask(0o022)
        root = "" if self.isolated else f"{settings['sockets']}/root-{os.getpid()}"
        self.files = Files(root, self.isolated, settings["userId"] == 0)
        self.environment = dict(os.environ)
        self.home = self._lay_home(root)
        self.limits = Limits(settings)
        self.loop = Loop()
        self.loop.on_child_exit(self._reap)
        self.contexts, self.spare, self.configured = {}, None, False
        self.watchdog = Watchdog(self.loop, self.limits, self.members, self.kernel_pids)
        self.commands = Commands(self)
        self.listener, self.channel = listener, channel

    def _lay_home(self, root):
        for name in ("/home/user", "/root", "/tmp"):
            os.makedirs(root + name, exist_ok=True)
        if root:
            self.environment.update(HOME=f"{root}/root", TMPDIR=f"{root}/tmp")
        return f"{root}/home/user"

    def serve(self):
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(self.home)
        self.spare = KernelProcess(self.limits)
        self.loop.watch(self.channel.fileno(), self._configure)
        self.loop.run()

    def _configure(self):
        """Requests wait in the listener's queue until the sandbox belongs to somebody."""
        line = b""
        while not line.endswith(b"\n"):
            part = self.channel.recv(65536)
            if not part:
                os._exit(0)  # the zygote has ended, or wants this one no longer
            line += part
        self.loop.watch(self.channel.fileno())
        self.channel.close()
        self.environment.update(json.loads(line)["environment"])
        self._add_context("python", "/home/user")
        self.loop.watch(self.listener.fileno(), self._accept)

    def _accept(self):
        try:
            sock, _ = self.listener.accept()
        except BlockingIOError:
            return
        Connection(self.loop, sock, self._dispatch)

    def _dispatch(self, connection, request):
        try:
            answer = _OPERATIONS[request["op"]](self, connection, request)
        except Refused as refused:
            answer = {"error": {"code": refused.code, "message": str(refused)}}
        except OSError as error:
            answer = {"error": {"code": "internal", "message": str(error)}}
        if answer is None:
            return
        if request["op"] == "write":
            connection.on_end = lambda: connection.answer(answer)  # an answer in the middle of a body may get lost
        else:
            connection.answer(answer)

    # --- processes --------------------------------------------------------------------------------

    def members(self):
        if self.isolated:
            return [process for process in processes.all_processes() if process.pid != 1]
        return processes.descendants(os.getpid())

    def kernel_pids(self):
        kernels = {context.process.pid for context in self.contexts.values()}
        return kernels | {self.spare.pid} if self.spare else kernels

    def _reap(self, pid, status):
        if self.spare and self.spare.pid == pid:
            self.spare.close()
            self.spare = None
        for context in list(self.contexts.values()):
            if context.process.pid == pid:
                context.kernel_died()
        self.commands.ended(pid, status)

    def _pause(self, _connection, _request):
        processes.signal_all(self.members, signal.SIGSTOP)
        return {"ok": True}

    def _resume(self, _connection, _request):
        processes.signal_all(self.members, signal.SIGCONT)
        return {"ok": True}

    # --- kernels ----------------------------------------------------------------------------------

    def new_kernel(self, cwd):
        """The spare one if there is one; the next spare is forked when nobody waits."""
        process, self.spare = self.spare or KernelProcess(self.limits), None
        process.tell(b"C", {"environment": self.environment, "cwd": self.files.locate(cwd)})
        self.loop.later(_SPARE_AFTER, self._prepare_spare)
        return process

    def _prepare_spare(self):
        if self.spare is None:
            try:
                self.spare = KernelProcess(self.limits)
            except OSError:
                self.spare = None  # too many processes; whoever asks for a context gets to see it

    def end_kernel(self, process):
        for fd in (process.control.fileno(), process.stdout, process.stderr):
            self.loop.watch(fd)
        process.close()
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    def _add_context(self, language, cwd):
        if language.lower().strip() != "python":
            raise Refused("internal", f"Failed to create context: the local sandbox runs python only, not {language}")
        if not os.path.isdir(self.files.locate(cwd)):
            raise Refused("internal", "Failed to set working directory")
        context = Context(self, self.new_kernel(cwd), cwd)
        self.contexts[context.id] = context
        return context

    def _context(self, identity):
        if identity is None:
            return next(iter(self.contexts.values()), None) or self._add_context("python", "/home/user")
        if identity not in self.contexts:
            raise Refused("not_found", f"Context {identity} not found")
        return self.contexts[identity]

    def _execute(self, connection, request):
        if request.get("language") and request["language"].lower().strip() != "python":
            raise Refused("internal", f"the local sandbox runs python only, not {request['language']}")
        self._context(request.get("context")).execute(connection, request["code"], request.get("environment"))

    def _create_context(self, _connection, request):
        return {"value": self._add_context(request.get("language") or "python", request.get("cwd") or "/home/user").describe()}

    def _list_contexts(self, _connection, _request):
        return {"value": [context.describe() for context in self.contexts.values()]}

    def _remove_context(self, _connection, request):
        self._context(request["context"]).close()
        del self.contexts[request["context"]]
        return {"ok": True}

    def _restart_context(self, _connection, request):
        self._context(request["context"]).replace_kernel()
        return {"ok": True}

    # --- files ------------------------------------------------------------------------------------

    def _write(self, connection, request):
        path, fd = self.files.open_for_writing(request["path"], request.get("user"))
        broken = []

        def write(data):
            try:
                view = memoryview(data)
                while view and not broken:
                    view = view[os.write(fd, view) :]
            except OSError as error:
                broken.append(error)

        def end():
            os.close(fd)
            if broken:
                connection.answer({"error": {"code": "resource_exhausted", "message": f"error writing file: {broken[0]}"}})
            else:
                connection.answer({"value": {"path": path, "name": os.path.basename(path), "type": "file"}})

        connection.on_body, connection.on_end = write, end

    def _read(self, connection, request):
        path, file, size = self.files.open_for_reading(request["path"], request.get("user"))
        connection.send_json({"value": {"path": path, "size": size}})
        connection.send_file(file, size)
        connection.finish()


_OPERATIONS = {
    "execute": Agent._execute,
    "contexts.create": Agent._create_context,
    "contexts.list": Agent._list_contexts,
    "contexts.remove": Agent._remove_context,
    "contexts.restart": Agent._restart_context,
    "pause": Agent._pause,
    "resume": Agent._resume,
    "write": Agent._write,
    "read": Agent._read,
    "stat": lambda agent, _, ask: {"value": agent.files.stat(ask["path"], ask.get("user"))},
    "list": lambda agent, _, ask: {"value": agent.files.list(ask["path"], ask.get("user"), ask.get("depth") or 1)},
    "makeDir": lambda agent, _, ask: {"value": agent.files.make_dir(ask["path"], ask.get("user"))},
    "move": lambda agent, _, ask: {"value": agent.files.move(ask["source"], ask["destination"], ask.get("user"))},
    "remove": lambda agent, _, ask: {"value": agent.files.remove(ask["path"], ask.get("user"))},
    "start": lambda agent, connection, ask: agent.commands.start(connection, ask),
    "connect": lambda agent, connection, ask: agent.commands.connect(connection, ask),
    "processes": lambda agent, _, ask: {"value": agent.commands.list()},
    "input": lambda agent, _, ask: {"value": agent.commands.send_input(ask)},
    "closeStdin": lambda agent, _, ask: {"value": agent.commands.close_stdin(ask)},
    "signal": lambda agent, _, ask: {"value": agent.commands.send_signal(ask)},
}
