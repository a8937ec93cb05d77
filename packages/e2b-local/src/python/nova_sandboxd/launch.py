"""The program that the server starts. It becomes the zygote, from which sandboxes are forked. The first line on stdin
has the settings, and later lines are commands to the zygote. The end of stdin means that the server has ended."""

import importlib
import json
import os
import resource
import signal
import site
import sys
import traceback

from . import enclosure, linux, loop, mappings, zygote


def main():
    try:
        # Closes descriptors that the server's libraries did not mark as close-on-exec.
        os.closerange(4, loop.max_open_descriptor() + 1)
        # Reads byte by byte, because the bytes after the line are commands for the zygote.
        settings = json.loads(loop.read_line(lambda: os.read(0, 1)))
        if settings["isolated"]:
            _raise_limits()
            enclosure.become_unprivileged_root(settings["ids"])
            _continue_as_first_process()
        elif sys.platform == "linux":
            linux.die_with_parent(signal.SIGKILL)
        _extend_path(settings["sites"])
        os.environ.clear()
        os.environ.update(settings["environment"])
        os.umask(0o022)
        events = os.dup(1)
        os.dup2(2, 1)  # Output of imported packages must not look like events.
        for name in settings["preloaded"]:
            importlib.import_module(name)
        zygote.Zygote(settings, events).serve()
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _raise_limits():
    """Raises limits as far as possible. A user namespace inherits the limits of the process that creates it, so all
    sandboxes together have to fit into the limits of this process."""
    for kind in (resource.RLIMIT_NPROC, resource.RLIMIT_SIGPENDING, resource.RLIMIT_MSGQUEUE):
        _, hard = resource.getrlimit(kind)
        try:
            resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (OSError, ValueError):  # An ordinary user may not raise the hard limit.
            resource.setrlimit(kind, (hard, hard))


def _continue_as_first_process():
    mappings.join_libraries()
    pid = os.fork()
    if pid == 0:
        linux.die_with_parent(signal.SIGKILL)
        enclosure.mount_proc()
        return
    os.close(0)
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _extend_path(folders):
    """Adds package folders to the import path, with addsitedir: unlike PYTHONPATH, it reads the .pth files that pip has
    installed."""
    sys.path[:] = [entry for entry in sys.path if entry != os.path.dirname(os.path.dirname(__file__))]
    for folder in folders:
        site.addsitedir(folder)
    site.setquit()
    site.sethelper()
