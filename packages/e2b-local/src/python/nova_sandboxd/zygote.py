"""The process from which sandboxes are forked. It keeps one sandbox ready. If sandboxes will import packages, a second
zygote imports the packages and large modules of the standard library, and then creates the sandboxes. So no request
waits for an import. The first zygote continues to create sandboxes for code that imports nothing large, because a fork
costs more if its process has loaded more. A request for a sandbox is a connection to the socket `zygote` or `light`, on
which the server sends one line of JSON, {environment, internet}. The response is the name of the sandbox's own socket.
The connection stays open as long as the sandbox lives: if either side closes it, the sandbox ends."""

import gc
import json
import os
import signal

from . import mappings, processes, warming
from .loop import Loop, forget_parent, read_line
from .sandbox import Sandbox, listen

_IDLE_DELAY = 0.02  # After this number of seconds without a request, the zygote does work in advance.


class Zygote:
    def __init__(self, settings, events):
        """`events` is a file descriptor: the zygote writes events to it, and the server reads them."""
        self.settings, self.events = settings, events
        self.loop = Loop()
        self.sandboxes, self.spare, self.warmer = {}, None, None
        self.unloaded, self.loading, self.is_held, self.is_loaded = list(warming.SMALL), None, False, False
        self.own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY) if settings["isolated"] else None
        self.listeners = [listen(settings["sockets"], name) for name in ("zygote", "light")]

    def serve(self):
        self._start()
        self.loop.watch(0, self._obey)
        self._tell({"ready": True})
        self.loop.run()

    def _start(self):
        self.loop.on_child_exit(self._bury)
        for listener in self.listeners:
            self.loop.watch(listener.fileno(), lambda listener=listener: self._accept(listener))
        self._share_memory()
        self._prepare_spare_when_idle()

    def _share_memory(self):
        gc.collect()
        gc.freeze()  # Existing objects stay in memory that the children share.

    def _tell(self, event):
        os.write(self.events, json.dumps(event).encode() + b"\n")

    def _obey(self):
        orders = os.read(0, 65536)
        if not orders:
            self._end()
        for order in orders.decode().split():
            self.is_held = order == "hold"
            if self.warmer:
                processes.send_signal(self.warmer, signal.SIGSTOP if self.is_held else signal.SIGCONT)
            elif order == "packages":
                self._warm()
            elif self.loading is None:
                self._load_next()

    def _end(self):
        for sandbox in list(self.sandboxes.values()):
            sandbox.kill()
        os._exit(0)

    def _accept(self, listener):
        try:
            connection, _ = listener.accept()
        except OSError:
            return  # The other zygote has accepted the connection, or this one has no descriptor left.
        try:
            request = json.loads(read_line(lambda: connection.recv(65536)))
            sandbox = self._take(request["internet"])
            sandbox.hand_over(request, connection)
        except OSError as error:
            connection.sendall(json.dumps({"error": str(error)}).encode() + b"\n")
            connection.close()
            return
        self.loop.watch(connection.fileno(), lambda: self._kill(sandbox))
        self._prepare_spare_when_idle()

    def _take(self, internet):
        if internet and self.spare:
            spare, self.spare = self.spare, None
            return spare
        return self._create(internet)

    def _prepare_spare_when_idle(self):
        def prepare():
            if self.spare is None:
                try:
                    self.spare = self._create(internet=True)
                except OSError:
                    self.spare = None  # The next request for a sandbox reports the error.

        self.loop.later(_IDLE_DELAY, prepare)

    def _create(self, internet):
        sandbox = Sandbox(self.settings, self.own_pids, internet)
        self.sandboxes[sandbox.pid] = sandbox
        sandbox.await_enclosure()
        return sandbox

    def _kill(self, sandbox):
        if sandbox.pid in self.sandboxes:
            self.loop.watch(sandbox.lifeline.fileno())
            sandbox.kill()

    def _bury(self, pid, _status):
        sandbox = self.sandboxes.pop(pid, None)
        if sandbox is None:
            return
        if self.spare is sandbox:
            self.spare = None
        if sandbox.lifeline:
            self.loop.watch(sandbox.lifeline.fileno())
            sandbox.lifeline.close()

    def _load_next(self):
        """Imports the next small module of the standard library, which light sandboxes (for code that imports nothing
        large) need, too. Between two modules it handles waiting requests for sandboxes."""
        self.loading = None
        if self.is_held or self.is_loaded:
            return
        if self.unloaded:
            warming.import_all([self.unloaded.pop(0)])
            self.loading = self.loop.later(0, self._load_next)
            return
        mappings.compact()
        self._share_memory()
        if self.spare:
            self.spare.kill()  # The spare sandbox was forked before the import, so it lacks the module.
            self.spare = None
        self._prepare_spare_when_idle()
        self.is_loaded = True
        self._tell({"loaded": "small"})

    def _warm(self):
        """Imports large modules and packages in a child process. The child then forks the next zygote: a fork has only
        one thread, even if packages have started more. The next zygote ends when `alive` is closed, which the kernel
        does when this process dies."""
        taken_over, announce = os.pipe()
        orphaned, self.alive = os.pipe()
        self.warmer = os.fork()
        if self.warmer == 0:
            try:
                stderr = warming.silence()
                warming.import_all([*warming.LARGE, *self.settings["packages"]])
                if warming.fork_quietly() == 0:
                    os.dup2(stderr, 2)
                    self._succeed(announce, orphaned)
            finally:
                os._exit(0)
        os.close(announce)
        os.close(orphaned)
        self.loop.watch(taken_over, lambda: self._retire(taken_over))

    def _succeed(self, announce, orphaned):
        del self.listeners[1:]
        keep = {self.listeners[0].fileno(), self.events, announce, orphaned, 3}
        forget_parent(keep if self.own_pids is None else {*keep, self.own_pids})
        self.loop, self.sandboxes, self.spare = Loop(), {}, None
        mappings.compact()
        self._start()
        self.loop.watch(orphaned, self._end)
        os.write(announce, b".")
        self.loop.run()

    def _retire(self, taken_over):
        """Called when the next zygote is ready. From then on this zygote creates only light sandboxes, for code that
        imports nothing large, and continues to watch the sandboxes that it has created. If an import has killed the
        next zygote, this one creates all sandboxes, without large modules and packages."""
        self.loop.watch(taken_over)
        if os.read(taken_over, 1):
            listener = self.listeners.pop(0)
            self.loop.watch(listener.fileno())
            listener.close()
        self._tell({"loaded": "packages"})
