"""Attacks that the code of a hostile node tries. It runs as a node, and `context["reached"]`
lists the successful attacks.
"""

import ctypes
import glob
import os
import signal
import socket
import stat
import struct
import sys
import time

ROOT, RUN_SOCKET, ABSTRACT = context["root"], context["run_socket"], context["abstract"]  # noqa: F821
HARNESS_FILES = {"claims", "inputs", "socket", "daemon.pid", "harness.py"}
libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
BUFFER = ctypes.create_string_buffer(256)
attacks = []


def attack(function):
    attacks.append(function)
    return function


def call(*values):
    answer = libc.syscall(*[value if isinstance(value, bytes) else ctypes.c_long(value) for value in values])
    if answer < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return answer


def descriptors():
    return [int(name) for name in os.listdir("/proc/self/fd")]


def others():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def is_of_the_harness(names):
    return HARNESS_FILES & set(names)


def first(candidates, probe):
    """Calls `probe` with each candidate, and returns the first result that is not None."""
    for candidate in candidates:
        try:
            if found := probe(candidate):
                return candidate, found
        except OSError:
            continue
    return None


@attack
def climb_from_a_descriptor():
    def climb(fd):
        for steps in range(30):
            names = os.listdir(os.open("/".join(["."] + [".."] * steps), os.O_RDONLY, dir_fd=fd))
            if is_of_the_harness(names):
                return names
        return None

    return first(descriptors(), climb)


@attack
def descend_from_a_descriptor_to_the_harness():
    up = "../" * 30 + ROOT.lstrip("/")
    return first(descriptors(), lambda fd: is_of_the_harness(os.listdir(os.open(up, os.O_RDONLY, dir_fd=fd))))


@attack
def hold_a_descriptor_of_a_folder_outside():
    def is_outside(fd):
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            return False
        return is_of_the_harness(os.listdir(os.open("..", os.O_RDONLY, dir_fd=fd)) + os.listdir(fd))

    return first(descriptors(), is_outside)


@attack
def look_through_proc():
    links = ("root", "cwd", "task/{pid}/root", "task/{pid}/cwd")
    places = [f"/proc/{pid}/{link.format(pid=pid)}" for pid in others() for link in links]
    places += [f"/proc/self/fd/{fd}" for fd in descriptors()]
    up = ["", ROOT, *("/.." * steps for steps in range(1, 6))]
    return first([place + end for place in places for end in up], lambda path: is_of_the_harness(os.listdir(path)))


@attack
def read_others_through_proc():
    names = ("environ", "mem", "maps", "ns/mnt", "auxv", *(f"fd/{fd}" for fd in range(20)))
    paths = [f"/proc/{pid}/{name}" for pid in others() for name in names]
    return first(paths, lambda path: os.open(path, os.O_RDONLY))


@attack
def reopen_a_descriptor_for_writing():
    """Tries to change a blob, a file that this code may only read and that later nodes read, too."""
    def widen(fd):
        if not stat.S_ISREG(os.fstat(fd).st_mode) or os.fstat(fd).st_nlink == 0:
            return False
        return os.open(f"/proc/self/fd/{fd}", os.O_RDWR)

    return first(descriptors(), widen)


@attack
def trace_others():
    def trace(pid):
        if libc.ptrace(16, pid, 0, 0) == 0:
            return "ptrace"
        here, there = struct.pack("QQ", ctypes.addressof(BUFFER), 8), struct.pack("QQ", 0x400000, 8)
        return X86 and libc.process_vm_readv(pid, here, 1, there, 1, 0) > 0

    return first(others(), trace)


@attack
def take_descriptors_of_others():
    return first(others(), lambda pid: [call(438, call(434, pid, 0), fd, 0) for fd in (0, 1, 2, 3)])


@attack
def signal_others():
    def end(pid):
        os.kill(pid, signal.SIGSTOP if pid != 1 else signal.SIGSEGV)
        return pid != 1

    return first(others(), end)


@attack
def dial_the_daemon():
    def dial(path):
        with socket.socket(socket.AF_UNIX) as any_socket:
            any_socket.connect(path)
        return True

    through = [f"/proc/{pid}/root{ROOT}/socket" for pid in others()]
    through += [f"/proc/self/fd/{fd}/../../../socket" for fd in descriptors()]
    return first([f"{ROOT}/socket", *through], dial)


@attack
def dial_sockets_of_the_machine():
    def dial(address):
        with socket.socket(socket.AF_UNIX) as any_socket:
            any_socket.connect(address)
        return True

    with open("/proc/net/unix") as table:
        names = [line.split()[7] for line in table if len(line.split()) > 7]
    seen = ["\0" + name[1:] if name.startswith("@") else name for name in names]
    usual = [f"/run/user/{os.getuid()}/bus", "/tmp/.X11-unix/X0", "/run/dbus/system_bus_socket", "/var/run/docker.sock"]
    return first(["\0" + ABSTRACT, RUN_SOCKET, *usual, *seen], dial)


@attack
def write_where_later_nodes_read():
    own = ("/tmp", "/var/tmp", "/dev/shm", "/home", "/root", "/run", "/var/run", "/var/lock", "/proc", "/sys", "/dev")
    folders = ["/", *glob.glob("/*/"), *glob.glob("/*/*/"), *sys.path, os.path.dirname(os.__file__)]
    foreign = [path for path in folders if not path.startswith(own) or path.startswith("/home/lib")]

    def write(folder):
        os.close(os.open(f"{folder}/left-behind", os.O_CREAT | os.O_WRONLY))
        return os.unlink(f"{folder}/left-behind") or "written"

    return first(foreign, write)


@attack
def change_the_modules():
    import tools

    def change(_):
        os.chmod(tools.__file__, 0o666)
        return os.open(tools.__file__, os.O_WRONLY | os.O_APPEND)

    return first([tools.__file__], change) or first(
        [tools.__file__], lambda path: os.rename(path, path + ".old") or os.rename(path + ".old", path) or "renamed"
    )


@attack
def make_namespaces():
    kinds = (0x10000000, 0x00020000, 0x40000000, 0x08000000, 0x20000000)

    def clone(flags):
        pid = call(56 if X86 else 220, flags | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        return "cloned"

    def clone3(flags):
        pid = call(435, struct.pack("11Q", flags, 0, 0, 0, signal.SIGCHLD, *[0] * 6), 88)
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        return "cloned"

    def unshare(flags):
        pid = os.fork()
        if pid == 0:
            os._exit(libc.unshare(flags) == 0)
        return os.waitpid(pid, 0)[1]

    return first(kinds, clone) or first(kinds, clone3) or first(kinds, unshare)


@attack
def enter_namespaces():
    return first(glob.glob("/proc/[0-9]*/ns/*"), lambda path: libc.setns(os.open(path, os.O_RDONLY), 0) == 0)


@attack
def rearrange_mounts():
    def run(action):
        pid = os.fork()
        if pid == 0:
            os._exit(action() == 0)
        return os.waitpid(pid, 0)[1]

    return first(
        [
            lambda: libc.umount2(b"/tmp", 2),
            lambda: libc.umount2(b"/root", 2),
            lambda: libc.umount2(b"/home/lib", 2),
            lambda: libc.mount(b"x", b"/mnt", b"tmpfs", 0, None),
            lambda: libc.mount(b"none", b"/", None, ctypes.c_ulong(4096 | 32), None),
            lambda: libc.chroot(b"/tmp"),
            lambda: call(428, -100, b"/", 1) and 0,
        ],
        run,
    )


@attack
def use_calls_that_no_code_needs():
    calls = {
        "io_uring": lambda: call(425, 8, BUFFER.raw),
        "keyctl": lambda: call(250 if X86 else 219, 0, -3, 1),
        "add_key": lambda: call(248 if X86 else 217, b"user", b"nova", b"secret", 6, -3),
        "request_key": lambda: call(249 if X86 else 218, b"user", b"nova", 0, -3),
        "open_by_handle_at": lambda: call(304 if X86 else 265, -100, BUFFER.raw, 0),
        "perf_event_open": lambda: call(298 if X86 else 241, BUFFER.raw, 0, -1, -1, 0),
        "bpf": lambda: call(321 if X86 else 280, 0, BUFFER.raw, 72),
        "shmget": lambda: call(29 if X86 else 194, 0, 4096, 0o1600),
        "memfd_create": lambda: call(319 if X86 else 279, b"x", 0),
    }

    def is_let_through(name):
        try:
            calls[name]()
            return True
        except OSError as error:
            return error.errno not in (1, 38, 13)

    return first(calls, is_let_through)


@attack
def make_sockets_of_other_kinds():
    return first((40, 17, 38, 31, 30, 44), lambda family: socket.socket(family, socket.SOCK_RAW))


context["descriptors"] = sorted(  # noqa: F821
    (fd, os.readlink(f"/proc/self/fd/{fd}").partition(":")[0])
    for fd in descriptors()
    if os.path.exists(f"/proc/self/fd/{fd}")
)
reached = {}
for each in attacks:
    began = time.monotonic()
    try:
        found = each()
    except OSError:
        found = None
    if found:
        reached[each.__name__] = repr(found)[:300]
context["reached"] = reached  # noqa: F821
