"""Processes that are started from outside (`commands.run`), as envd's process service has them."""

import base64
import json
import os
import signal
import struct
import subprocess

from .files import Refused

_CHUNK = 1 << 15
_ENVELOPE = struct.Struct(">BI")
_END_OF_STREAM = 2


def envelope(message, flags=0):
    """One message of a Connect stream."""
    payload = json.dumps(message).encode()
    return _ENVELOPE.pack(flags, len(payload)) + payload


def event(content):
    return envelope({"event": content})


class Command:
    def __init__(self, commands, config, process, tag):
        self.commands, self.loop = commands, commands.agent.loop
        self.config, self.process, self.tag, self.pid = config, process, tag, process.pid
        self.outputs = {stream.fileno(): name for name, stream in (("stdout", process.stdout), ("stderr", process.stderr))}
        self.subscribers, self.status, self.deadline = [], None, None
        for fd in self.outputs:
            os.set_blocking(fd, False)
        self._watch()

    def subscribe(self, connection, keepalive_seconds):
        self.subscribers.append(connection)
        connection.on_drained = self._watch
        connection.on_end = lambda: self._unsubscribe(connection)
        connection.send_json({"ok": True})
        connection.send(event({"start": {"pid": self.pid}}))
        self._keep_alive(connection, keepalive_seconds)

    def _unsubscribe(self, connection):
        """The command goes on without its client."""
        if connection in self.subscribers:
            self.subscribers.remove(connection)
            connection.close()
            self._watch()

    def _keep_alive(self, connection, seconds):
        def beat():
            if connection in self.subscribers:
                connection.send(event({"keepalive": {}}))
                self._keep_alive(connection, seconds)

        self.loop.later(seconds, beat)

    def _watch(self):
        stopped = any(connection.congested for connection in self.subscribers)
        for fd, name in self.outputs.items():
            self.loop.watch(fd, None if stopped else lambda fd=fd, name=name: self._read(fd, name))

    def _read(self, fd, name):
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        if data:
            message = event({"data": {name: base64.b64encode(data).decode()}})
            for connection in list(self.subscribers):
                connection.send(message)
            self._watch()
        else:
            self.loop.watch(fd)
            del self.outputs[fd]
            self._end_if_over()

    def ended(self, status):
        self.status = status
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self._end_if_over()

    def _end_if_over(self):
        """The end comes when the process is gone and nobody holds its output open any more."""
        if self.status is None or self.outputs:
            return
        if self.deadline:
            self.deadline.cancel()
        self.commands.forget(self)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        for connection in self.subscribers:
            connection.on_end = None
            connection.send(event({"end": describe_end(self.status)}) + envelope({}, _END_OF_STREAM))
            connection.finish()
        self.subscribers = []

    def describe(self):
        return {"config": self.config, "pid": self.pid, **({"tag": self.tag} if self.tag else {})}


def describe_end(status):
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        said = f"signal: {signal.strsignal(-code).lower()}"
        return {"exitCode": -1, "exited": False, "status": said, "error": said}
    said = f"exit status {code}"
    return {"exitCode": code, "exited": True, "status": said, **({"error": said} if code else {})}


class Commands:
    def __init__(self, agent):
        self.agent = agent
        self.running = {}

    def start(self, connection, request):
        config = request["process"]
        if request.get("pty"):
            raise Refused("unimplemented", "the local sandbox has no terminals - start the command without a pty")
        process = self._spawn(config, request.get("user"), request.get("stdin"))
        command = self.running[process.pid] = Command(self, config, process, request.get("tag"))
        if request.get("timeoutMs"):
            command.deadline = self.agent.loop.later(request["timeoutMs"] / 1000, lambda: self._kill(command))
        command.subscribe(connection, request["keepaliveSeconds"])
        self.agent.watchdog.wake()

    def _spawn(self, config, user, stdin):
        files = self.agent.files
        number, home = files.user(user)
        cwd = files.locate(files.resolve(config.get("cwd") or home, user))
        if not os.path.isdir(cwd):
            raise Refused("invalid_argument", f"cwd '{config.get('cwd')}' does not exist")
        name = user or "user"
        environment = {**self.agent.environment, "HOME": files.locate(home), "USER": name, "LOGNAME": name}
        switch = {"user": number, "group": number, "extra_groups": [number]} if number and files.isolated else {}
        try:
            process = subprocess.Popen(
                [config["cmd"], *config.get("args", [])],
                cwd=cwd, env={**environment, **config.get("envs", {})}, start_new_session=True,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                **switch,
            )  # fmt: skip
        except OSError as error:
            raise Refused("invalid_argument", f"error starting process '{config['cmd']}': {error}") from error
        self.agent.limits.bind(process.pid)
        return process

    def _kill(self, command):
        try:
            os.killpg(command.pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # only its output is still held open

    def forget(self, command):
        self.running.pop(command.pid, None)

    def ended(self, pid, status):
        if pid in self.running:
            self.running[pid].ended(status)

    def connect(self, connection, request):
        self.select(request).subscribe(connection, request["keepaliveSeconds"])

    def list(self):
        return [command.describe() for command in self.running.values()]

    def send_input(self, request):
        command = self.select(request)
        if command.process.stdin is None or command.process.stdin.closed:
            raise Refused("failed_precondition", "the process was started without stdin, or its stdin is closed")
        command.process.stdin.write(base64.b64decode(request["input"].get("stdin", "")))
        command.process.stdin.flush()

    def close_stdin(self, request):
        stdin = self.select(request).process.stdin
        if stdin:
            stdin.close()

    def send_signal(self, request):
        number = {"SIGNAL_SIGTERM": signal.SIGTERM, "SIGNAL_SIGKILL": signal.SIGKILL}.get(request["signal"])
        if number is None:
            raise Refused("unimplemented", f"signal {request['signal']} is not supported")
        os.kill(self.select(request).pid, number)

    def select(self, request):
        selector = request.get("process", {})
        for command in self.running.values():
            if command.pid == selector.get("pid") or (command.tag and command.tag == selector.get("tag")):
                return command
        raise Refused("not_found", f"process with pid {selector.get('pid')} not found")
