"""All contexts of a sandbox, and their kernels. The kernel of the default context is forked before a client needs it.
Further kernels are forked ahead only once a client has created a context, which most clients never do."""

from .contexts import Context
from .files import Refused
from .kernel_process import KernelProcess

_SPARE_DELAY = 0.02  # After this number of seconds a new spare is forked, so no request waits for the fork.


class Kernels:
    def __init__(self, loop, limits, environment, on_busy):
        """`on_busy` is called when a cell starts."""
        self.loop, self.limits, self.environment, self.on_busy = loop, limits, environment, on_busy
        self.contexts, self.default = {}, None
        self.spare = KernelProcess(limits)

    def take(self):
        process, self.spare = self.spare or KernelProcess(self.limits), None
        process.tell(b"C", self.environment)
        if self.default:
            self.loop.later(_SPARE_DELAY, self._prepare_spare)
        return process

    def _prepare_spare(self):
        if self.spare is None:
            try:
                self.spare = KernelProcess(self.limits)
            except OSError:
                self.spare = None  # There are too many processes. The next request for a context reports the error.

    def pids(self):
        pids = {context.process.pid for context in self.contexts.values() if context.process}
        return pids | {self.spare.pid} if self.spare else pids

    def ended(self, pid):
        if self.spare and self.spare.pid == pid:
            self.spare.close(self.loop)
            self.spare = None
        for context in list(self.contexts.values()):
            if context.is_of(pid):
                context.kernel_died()

    def create(self):
        context = Context(self.loop, self)
        self.contexts[context.id] = context
        return context

    def execute(self, connection, request):
        identity = request.get("context") or self.default
        self._find(identity).execute(connection, request["code"])

    def remove(self, identity):
        self._find(identity).close()
        del self.contexts[identity]

    def _find(self, identity):
        if identity not in self.contexts:
            raise Refused("not_found", f"Context {identity} not found")
        return self.contexts[identity]
