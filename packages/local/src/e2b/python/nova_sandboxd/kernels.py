"""All contexts of a sandbox and their kernels, one of which is always forked ahead of its use."""

import os

from .contexts import Context
from .files import Refused
from .kernel_process import KernelProcess

_SPARE_DELAY = 0.02  # seconds after which a new spare is forked, so that nobody waits for it
_HOME = "/home/user"


class Kernels:
    def __init__(self, loop, limits, files, environment, on_busy):
        self.loop, self.limits, self.files = loop, limits, files
        self.environment, self.on_busy = environment, on_busy
        self.contexts, self.default = {}, None
        self.spare = KernelProcess(limits)

    def take(self, cwd):
        process, self.spare = self.spare or KernelProcess(self.limits), None
        process.tell(b"C", {"environment": self.environment, "cwd": self.files.locate(cwd)})
        self.loop.later(_SPARE_DELAY, self._prepare_spare)
        return process

    def _prepare_spare(self):
        if self.spare is None:
            try:
                self.spare = KernelProcess(self.limits)
            except OSError:
                self.spare = None  # too many processes; whoever asks for a context gets to see it

    def pids(self):
        pids = {context.process.pid for context in self.contexts.values()}
        return pids | {self.spare.pid} if self.spare else pids

    def ended(self, pid):
        if self.spare and self.spare.pid == pid:
            self.spare.close(self.loop)
            self.spare = None
        for context in list(self.contexts.values()):
            if context.process.pid == pid:
                context.kernel_died()

    # --- what the server asks for -------------------------------------------------------------------

    def create(self, language=None, cwd=None):
        _require_python(language)
        cwd = cwd or _HOME
        if not os.path.isdir(self.files.locate(cwd)):
            raise Refused("internal", "Failed to set working directory")
        context = Context(self.loop, self, cwd, self.on_busy)
        self.contexts[context.id] = context
        return context

    def execute(self, connection, request):
        _require_python(request.get("language"))
        if request.get("context"):
            context = self.find(request["context"])
        else:
            context = self.contexts.get(self.default) or self.create()
            self.default = context.id
        context.execute(connection, request["code"], request.get("environment"))

    def find(self, identity):
        if identity not in self.contexts:
            raise Refused("not_found", f"Context {identity} not found")
        return self.contexts[identity]

    def list(self):
        return [context.describe() for context in self.contexts.values()]

    def restart(self, identity):
        self.find(identity).restart()

    def remove(self, identity):
        self.find(identity).close()
        del self.contexts[identity]


def _require_python(language):
    if language and language.lower().strip() != "python":
        raise Refused("internal", f"Failed to create context: the local sandbox runs python only, not {language}")
