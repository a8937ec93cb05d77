"""The part of the harness that runs in the kernel: finds or starts the sandbox's daemon, and repeats its answers about
one input on stdout."""

import fcntl
import os
import socket
import subprocess
import sys
import threading
import time

from .store import socket_path

WARM = "/run/nova-warm.sock"
_START_SECONDS = 20
_DYING_SECONDS, _LONGEST_DYING_SECONDS = 0.005, 1.0
_LOG_TAIL_CHARS = 2000
_NEW_DAEMON = """
import runpy, sys
runpy.run_path(f"{sys.argv[1]}/harness.py")
from nova_harness.daemon import main
main(int(sys.argv[2]), sys.argv[1])
"""


_saw_an_input = False


def attach(name, root, in_cell=False):
    """Passes an input to the daemon. Tries again if the daemon died before it opened the input, because a dying daemon
    still accepts connections."""
    global _saw_an_input
    _saw_an_input |= in_cell
    deadline, pause = time.monotonic() + _START_SECONDS, _DYING_SECONDS
    while True:
        try:
            return _follow(name, root)
        except ConnectionError:
            untouched = os.path.exists(os.path.join(root, "inputs", name))
            if not untouched or time.monotonic() > deadline:
                raise RuntimeError(f"the sandbox's daemon has died: {_log_tail(root)}") from None
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_DYING_SECONDS)


def _follow(name, root):
    with connect(root) as connection:
        connection.sendall(name.encode() + b"\n")
        is_answered = False
        while chunk := connection.recv(1 << 16):
            is_answered = True
            sys.stdout.write(chunk.decode("ascii"))
            sys.stdout.flush()
    if not is_answered and os.path.exists(os.path.join(root, "inputs", name)):
        raise ConnectionError  # The daemon died before it opened the input.


def _log_tail(root):
    try:
        with open(os.path.join(root, "daemon.log")) as log:
            return log.read()[-_LOG_TAIL_CHARS:].strip()
    except OSError:
        return "it left no message"


def connect(root):
    """Connects to the daemon. If two attaches find no daemon at the same time, the lock lets only one of them start
    it."""
    daemon = _dial(root)
    if daemon:
        return daemon
    with open(os.path.join(root, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _dial(root) or _start(root)


def _dial(root):
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(socket_path(root))
        return connection
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None


def _start(root):
    """Starts the daemon. The socket listens before the daemon runs, so that clients can already connect. If an earlier
    cell contained an input, the kernel's memory holds that input, and the forked daemon inherits it. A sandbox whose
    daemon was forked so therefore serves one execution only."""
    path = socket_path(root)
    if os.path.exists(path):
        os.unlink(path)
    os.chmod(root, 0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(16)
        if not _start_in_warm_process(listener, root):
            if _is_single_threaded():
                _fork_daemon(listener, root)
            else:
                _spawn_daemon(listener, root)
    return _dial_patiently(root)


def _dial_patiently(root):
    deadline = time.monotonic() + _START_SECONDS
    while True:
        connection = _dial(root)
        if connection or time.monotonic() > deadline:
            return connection
        time.sleep(0.01)


def _start_in_warm_process(listener, root):
    """Asks the template's warm Python process to become the daemon (see warm.py). False if there is no such process."""
    try:
        with socket.socket(socket.AF_UNIX) as warm:
            warm.connect(WARM)
            socket.send_fds(warm, [f"{root}\n".encode()], [listener.fileno()])
            return warm.recv(16) != b""
    except OSError:
        return False  # The template has no warm process, or that process has died.


def _is_single_threaded():
    """True if this process has a single thread, so that a fork is safe: a child of several threads could inherit a lock
    that no thread will release."""
    try:
        with open("/proc/self/status") as status:
            return any(line.split() == ["Threads:", "1"] for line in status)
    except OSError:
        return sys.platform != "linux" and threading.active_count() == 1


def _fork_daemon(listener, root):
    """Forks twice, so that the kernel need not wait for the daemon."""
    from . import daemon

    child = os.fork()
    if child == 0:
        try:
            if os.fork() == 0:
                daemon.main(listener.fileno(), root, is_clean=not _saw_an_input)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def _spawn_daemon(listener, root):
    subprocess.Popen(
        [sys.executable, "-c", _NEW_DAEMON, root, str(listener.fileno())],
        pass_fds=[listener.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
