"""
The process that sandboxes are forked from. It keeps one sandbox ready ahead of time, and a second zygote, with the
template's packages imported, takes over from the first one when it is warm: nobody waits for an import.

A request is a connection that sends one JSON line {environment, internet}; the answer is the name of the sandbox's own
socket. The connection stays open for as long as the sandbox lives: closing it from either end is the end of the sandbox.
"""

import gc
import importlib
import json
import os
import signal
import socket
import warnings

from . import agent, enclosure, linux, processes
from .loop import Loop, forget_parent

_PATIENCE = 0.02  # seconds without a request before work is done ahead
_STANDARD = (
    "asyncio base64 calendar collections concurrent.futures contextlib copy csv dataclasses datetime decimal email "
    "email.message enum fractions functools glob gzip hashlib hmac html http.client inspect io itertools json logging "
    "math mimetypes multiprocessing pathlib pickle pprint queue random re secrets shlex shutil smtplib sqlite3 ssl "
    "statistics string subprocess tempfile textwrap threading traceback typing unicodedata urllib.request uuid "
    "xml.etree.ElementTree zipfile zoneinfo"
).split()


class Sandbox:
    def __init__(self, pid, channel, name, internet):
        self.pid, self.channel, self.name, self.internet = pid, channel, name, internet
        self.lifeline = None


class Zygote:
    def __init__(self, settings):
        self.settings = settings
        self.loop = Loop()
        self.sandboxes = {}
        self.spare = None
        self.warmer = None
        self.serial = 0
        self.own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY) if settings["isolated"] else None
        self.listener = listen(settings["sockets"], "zygote")

    def serve(self):
        self._start_loop()
        self.loop.watch(0, self._obey)
        tell({"ready": True})
        self.loop.run()

    def _start_loop(self):
        self.loop.on_child_exit(self._bury)
        self.loop.watch(self.listener.fileno(), self._accept)
        gc.collect()
        gc.freeze()  # what exists now stays shared with the children
        self._prepare_spare_when_idle()

    # --- orders of the server -------------------------------------------------------------------

    def _obey(self):
        orders = os.read(0, 65536)
        if not orders:
            self._end()
        for order in orders.decode().split():
            if order == "warm" and self.warmer is None:
                self._warm()
            elif order in ("hold", "proceed") and self.warmer:
                os.kill(self.warmer, signal.SIGSTOP if order == "hold" else signal.SIGCONT)

    def _end(self):
        for sandbox in list(self.sandboxes.values()):
            self._kill(sandbox)
        os._exit(0)

    # --- sandboxes ------------------------------------------------------------------------------

    def _accept(self):
        try:
            connection, _ = self.listener.accept()
        except BlockingIOError:
            return  # the other zygote was faster
        try:
            request = json.loads(read_line(connection))
            sandbox = self._take(request["internet"])
        except OSError as error:
            connection.sendall(json.dumps({"error": str(error)}).encode() + b"\n")
            connection.close()
            return
        sandbox.channel.sendall(json.dumps(request).encode() + b"\n")
        sandbox.channel.close()
        sandbox.lifeline = connection
        connection.sendall(json.dumps({"socket": sandbox.name}).encode() + b"\n")
        self.loop.watch(connection.fileno(), lambda: self._kill(sandbox))
        self._prepare_spare_when_idle()

    def _take(self, internet):
        spare = self.spare
        if spare and spare.internet == internet:
            self.spare = None
            return spare
        return self._create(internet)

    def _prepare_spare_when_idle(self):
        def prepare():
            if self.spare is None and self.listener is not None:
                try:
                    self.spare = self._create(internet=True)
                except OSError:
                    self.spare = None  # whoever asks for a sandbox gets to see the error

        self.loop.later(_PATIENCE, prepare)

    def _create(self, internet):
        self.serial += 1
        name = f"{os.getpid()}-{self.serial}"
        listener = listen(self.settings["sockets"], name)
        ours, theirs = socket.socketpair()
        if self.own_pids is not None:
            linux.unshare(linux.NEWPID)
        try:
            pid = os.fork()
            if pid == 0:
                self._become_sandbox(listener, theirs, internet)
        finally:
            if self.own_pids is not None:
                linux.setns(self.own_pids, linux.NEWPID)
        listener.close()
        theirs.close()
        sandbox = self.sandboxes[pid] = Sandbox(pid, ours, name, internet)
        if self.own_pids is not None:
            self._write_map_when_asked(sandbox)
        return sandbox

    def _write_map_when_asked(self, sandbox):
        asked = sandbox.channel.recv(4096)
        if asked != b"map":
            raise ChildProcessError(f"a sandbox could not be closed off: {asked.decode() or 'its process died'}")
        enclosure.write_map(sandbox.pid, self.settings["innerIds"])
        sandbox.channel.sendall(b".")

    def _become_sandbox(self, listener, channel, internet):
        try:
            forget_parent({listener.fileno(), channel.fileno()})
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)

            def await_map():
                channel.sendall(b"map")
                channel.recv(1)

            if self.own_pids is not None:
                settings = self.settings
                enclosure.enclose(internet, settings["diskBytes"], settings["userId"], await_map)
            agent.run(self.settings, listener, channel)
        except BaseException as error:
            try:
                channel.sendall(f"{type(error).__name__}: {error}".encode())
            finally:
                os._exit(1)

    def _kill(self, sandbox):
        """The first process of the namespace takes all others with it; without namespaces they are looked up."""
        if sandbox.pid not in self.sandboxes:
            return
        if self.own_pids is None:
            processes.kill_family(sandbox.pid)
        else:
            os.kill(sandbox.pid, signal.SIGKILL)
        if sandbox.lifeline:
            self.loop.watch(sandbox.lifeline.fileno())

    def _bury(self, pid, _status):
        sandbox = self.sandboxes.pop(pid, None)
        if sandbox is None:
            return
        if self.spare is sandbox:
            self.spare = None
        if sandbox.lifeline:
            self.loop.watch(sandbox.lifeline.fileno())
            sandbox.lifeline.close()

    # --- warming --------------------------------------------------------------------------------

    def _warm(self):
        """Imports in a child; its child, which has one thread only, becomes the zygote that answers from then on."""
        done, taken_over = os.pipe()
        orphaned, alive = os.pipe()
        self.warmer = os.fork()
        if self.warmer == 0:
            try:
                os.close(done)
                os.close(alive)
                missing = import_all([*_STANDARD, *self.settings["packages"]])
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # 3.12 warns of forks beside threads; the successor has none of them
                    successor = os.fork()
                if successor == 0:
                    self._succeed(taken_over, orphaned, missing)
            finally:
                os._exit(0)
        os.close(taken_over)
        os.close(orphaned)
        self.successor_alive = alive  # it ends when this end closes, however this process dies
        self.loop.watch(done, lambda: self._retire(done))

    def _succeed(self, taken_over, orphaned, missing):
        keep = {self.listener.fileno(), taken_over, orphaned, 3}
        forget_parent(keep if self.own_pids is None else {*keep, self.own_pids})
        self.loop, self.sandboxes, self.spare, self.warmer = Loop(), {}, None, -1
        self._start_loop()
        self.loop.watch(orphaned, self._end)
        os.write(taken_over, b".")
        tell({"warm": True, "missing": missing})
        self.loop.run()

    def _retire(self, done):
        if not os.read(done, 1):
            self.loop.watch(done)
            return
        self.loop.watch(done)
        self.loop.watch(self.listener.fileno())
        self.listener.close()
        self.listener = None
        if self.spare:
            self._kill(self.spare)
            self.spare = None


def import_all(names):
    missing = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            try:
                importlib.import_module(name)
            except Exception:  # an import runs any code; what fails here fails again, and visibly, in the user's own code
                missing.append(name)
    return missing


def listen(folder, name):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/{name}")
    listener.listen(128)
    listener.setblocking(False)
    return listener


def read_line(connection):
    line = b""
    while not line.endswith(b"\n"):
        part = connection.recv(65536)
        if not part:
            raise ConnectionError("the connection ended before its request")
        line += part
    return line


def tell(event):
    os.write(1, json.dumps(event).encode() + b"\n")
