"""The first process of a pid namespace. It forks one process after another, one for each run of code. After each run it
kills all other processes of the namespace, so that no process of one run is alive when the next run starts. It receives
files and orders. The doors of a relay are the only data of an execution that it receives. An init with a relay serves
only one run.

After each fork, the kernel copies every page to which this process writes, and Python writes to each object that it
uses. So between two forks, this process uses few objects: no JSON and no exceptions."""

import array
import contextlib
import os
import signal
import socket
import time
import traceback

from . import jail, linux, netns, relay, wire

_DYING_SECONDS = 0.002
_CHILDREN_BYTES = 1 << 16
_RUN, _RENEW = b".", b"n"
_SPACE_FOR_FILES = socket.CMSG_LEN(3 * array.array("i").itemsize)


class Init:
    """Represents an init process in the daemon. Without a namespace, an init serves one run and ends with it."""

    def __init__(self, zygote, walls):
        self.zygote = zygote
        self.init_socket, theirs = socket.socketpair()
        try:
            self.pid = zygote.fork(walls, theirs.fileno())
        except OSError:
            self.init_socket.close()
            raise
        finally:
            theirs.close()
        self.reader = wire.Reader(self.init_socket, takes_files=False)

    def fork(self, files):
        """`files` are the new process's control socket, its output, and optionally a doors_channel (see relay.py)."""
        socket.send_fds(self.init_socket, [_RUN], files)

    def renew(self):
        """Prepares the init for another execution, which must find no trace of the one before. If this fails, the init
        dies. Call it only when the init is the last process of the namespace."""
        self.init_socket.sendall(_RENEW)

    def failure(self):
        """Returns the error that ended the init. None while the init lives, or if it died without reporting an
        error."""
        with contextlib.suppress(OSError):
            message = None if self.is_busy() else self.reader.read()
            return linux.as_error(message) if message and "failed" in message else None

    def is_busy(self):
        """False if the last forked process or the init itself has ended."""
        return not wire.is_readable(self.init_socket)

    def how_it_ended(self):
        """Waits until no process of the last run is left, and returns the status of that run. None if the init has
        died, too."""
        with contextlib.suppress(OSError):
            message = self.reader.read()
            return message and message.get("over")

    def signal(self, number):
        self.zygote.signal(self.pid, number)

    def dismiss(self):
        """Kills the init and every process in its namespace."""
        self.zygote.end(self.pid)
        self.init_socket.close()


def become_init(walls, run, init_socket):
    """Turns the process into an init, and never returns."""
    code = 70
    try:
        jail.die_with_parent()
        os.setpgid(0, 0)
        if not walls.isolated:
            jail.adopt_orphans()
        if walls.has_own_network:
            netns.raise_loopback()
        null = os.open(os.devnull, os.O_WRONLY)
        while (order := init_socket.recvmsg(1, _SPACE_FOR_FILES))[0]:
            if order[0] == _RENEW:
                _renew(walls)
                continue
            _serve_run(walls, run, init_socket, null, *_received(order[1]))
            if not walls.isolated:
                break
        code = 0
    except OSError as error:
        os.write(2, traceback.format_exc().encode())
        wire.send(init_socket, linux.as_message(error))
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _received(rights):
    files = array.array("i")
    for _, _, data in rights:
        files.frombytes(data)
    return files


def _renew(walls):
    """Enters a new network namespace, because the old one still shows the connections of the last execution. Restarts
    the count of pids, because it shows how many processes that execution had."""
    if walls.has_own_network:
        linux.unshare(linux.NEWNET)
        netns.raise_loopback()
    with open("/proc/sys/kernel/ns_last_pid", "w") as last_pid:
        last_pid.write("1")


def _serve_run(walls, run, init_socket, null, control, output, doors_channel=None):
    """Serves one run. Keeps the output open until no process of the run is left: its end tells the daemon that all of
    them have ended. `null` is a descriptor of /dev/null."""
    _write_to(output)
    os.close(output)
    child = os.fork()
    if child == 0:
        init_socket.close()
        os.close(null)
        if doors_channel is not None:
            os.close(doors_channel)
        _become_runner(walls, run, socket.socket(fileno=control))
    os.close(control)
    if doors_channel is None:
        _outlive(child, init_socket, walls.isolated)
    else:
        channel = socket.socket(fileno=doors_channel)
        # After a failure the channel stays open until init has reported the error, because the relay ends all
        # connections when the channel closes.
        relay.open_requested_doors(channel)
        _outlive(child, init_socket, walls.isolated)
        channel.close()
    _write_to(null)


def _become_runner(walls, run, control):
    """Runs code in this process, and never returns. An error that is caught here happened before the code started."""
    try:
        walls.enter()
        run.serve(control, walls)
    except OSError as error:
        os.write(2, traceback.format_exc().encode())
        wire.send(control, linux.as_message(error))
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(70)


def _write_to(fd):
    os.dup2(fd, 1)
    os.dup2(fd, 2)


def _outlive(child, init_socket, isolated):
    """Reaps orphans until the code's process ends, and then kills the processes that it has left."""
    if not isolated:
        signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    while True:
        pid, how = os.wait()
        if pid == child:
            break
    if isolated:
        _kill_all_others()
    else:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # The code is reaped, so another process may get its pid.
    init_socket.sendall(b'{"over": %d}\n' % how)
    if not isolated:
        _kill_family(child)


def _kill_all_others():
    """Kills all other processes of the pid namespace, of which this is the first process. A killed process cannot
    fork."""
    if os.getpid() != 1:
        raise RuntimeError("not in a pid namespace")
    with contextlib.suppress(ChildProcessError):
        while linux.kill_all_others():
            os.wait()


def _kill_family(group):
    """Kills the process group and all children, including orphans if the system lets this process adopt them."""
    while _reap_children():
        with contextlib.suppress(ProcessLookupError, PermissionError):  # The group is empty, or it has only zombies.
            os.killpg(group, signal.SIGKILL)
        for child in children_of(os.getpid()) or ():
            os.kill(child, signal.SIGKILL)
        time.sleep(_DYING_SECONDS)


def _reap_children():
    """Reaps dead children. False if no child is left."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            continue
    except ChildProcessError:
        return False
    return True


def children_of(pid):
    """Returns the children of all threads of a process that are not reaped yet. None if the process or one of its
    threads is just ending, or if the system does not report children."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        return [int(child) for thread in threads for child in _read_children(f"/proc/{pid}/task/{thread}/children")]
    except OSError:
        return None


def _read_children(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(fd, _CHILDREN_BYTES), b"")).split()
    finally:
        os.close(fd)
