"""The isolation ("walls") of one node's code: its own pid and mount namespaces, fresh /tmp and home, no files of the
harness, an unprivileged user that cannot regain rights, and limits on memory and processes. If the system refuses
namespaces, the code still gets its own process group, session and limits. The harness then reports the missing
isolation."""

import contextlib
import copy
import glob
import os
import resource
import signal
import socket
import stat
import sys
import tempfile

from . import here, linux, memory, seccomp
from .landlock import Landlock, version_here

_NOBODY = 65534
_SCRATCH = "size=512m,mode=1777"
_FRESH = {
    "/tmp": _SCRATCH,
    "/var/tmp": _SCRATCH,
    "/dev/shm": _SCRATCH,
    "/home": "size=512m,mode=755",
    "/root": "size=1m,mode=755",
    # The system's programs have their sockets in this folder, so the code gets an empty one.
    "/run": "size=1m,mode=755",
}
_LIB_INSIDE = "/home/lib"
_HOME, _MAIN = "/home/node", "/home/main"

_PROCESSES = 128
# The code and the harness may have the same user id, so the code has lower limits: it reaches them before the harness
# runs out of descriptors. The kernel counts descriptors in transit (SCM_RIGHTS) against the limit of the sender, and
# becomes slow if a user has 2,000 of these descriptors.
_CODE_DESCRIPTORS, _FOR_THE_RESULT = 1024, 16
_CODE_LIMITS = {"RLIMIT_SIGPENDING": 256, "RLIMIT_MSGQUEUE": 100_000, "RLIMIT_MEMLOCK": 1 << 16}
_UNKNOWN_TASKS = 2000

_is_linux = sys.platform == "linux"


def adopt_orphans():
    linux.prctl(linux.CHILD_SUBREAPER, 1)


def die_with_parent():
    linux.prctl(linux.PDEATHSIG, signal.SIGKILL)


def of_kind(root, kind):
    """Creates the isolation of this `kind`, which another process has sent."""
    isolated, asks, has_doors = kind
    if isolated:
        seccomp.filter_of(asks)  # Builds the filter once. All processes that the caller forks use the cached filter.
    walls = Jail(isolated, root, asks)
    return walls.without_network() if has_doors else walls


class Jail:
    """With `asks`, code reaches other hosts through the guard. With `has_doors`, code reaches only hosts that have a
    door (see relay.py). Without these, code uses the sandbox's network."""

    def __init__(self, isolated, root, asks=False):
        self.isolated, self.root, self.asks, self.has_doors = isolated, root, asks, False
        self.hosts = None
        self.nameservers, others = here.read_resolver()
        self.resolver = here.inner_resolver(len(self.nameservers), others)
        self.fresh = [folder for folder in _FRESH if isolated and _may_be_covered(folder)]
        self.top_folders = [folder for folder in _top_folders() if folder not in self.fresh] if isolated else []
        self.landlock_version = version_here() if isolated else None
        self.user = _NOBODY if os.geteuid() == 0 and _is_mapped(_NOBODY) and _others_may_read(sys.base_prefix) else None
        self.others = 0 if isolated and self.user is not None else _count_tasks()

    def without_network(self):
        walls = copy.copy(self)
        walls.asks, walls.has_doors = False, True
        return walls

    @property
    def kind(self):
        return (self.isolated, self.asks, self.has_doors)

    @property
    def has_own_network(self):
        return self.asks or self.has_doors

    @property
    def user_of_code(self):
        return os.geteuid() if self.user is None else self.user

    def fork(self):
        """Forks like os.fork, but makes the child the first process of a new pid namespace, which ends with the child.
        The system call bypasses the C library, so the child must fork normally before it runs foreign code."""
        if not self.isolated:
            return os.fork()
        own_network = linux.NEWNET if self.has_own_network else 0
        return linux.fork(linux.NEWPID | own_network | signal.SIGCHLD)

    def enter(self):
        """Gives the process its own mounts, queues and semaphores. They end with the last process that uses them."""
        if not self.isolated:
            return
        linux.unshare(linux.NEWNS | linux.NEWIPC)
        linux.mount("none", "/", None, linux.REC | linux.PRIVATE)
        linux.forbid_writing()
        self._make_fresh()
        if self.has_doors:
            self._forget_names()
        elif self.asks:
            self._ask_for_names()
        # Some containers forbid a new /proc. The existing /proc shows the pids of other processes, but not their data.
        with linux.where_supported():
            # `hidepid=2` hides the processes of other users.
            linux.mount("proc", "/proc", "proc", linux.NOSUID | linux.NODEV, "hidepid=2")

    def _forget_names(self):
        """Covers /etc/hosts and /etc/resolv.conf with empty files. Only names that are later written to `hosts` can
        then be resolved."""
        self.hosts = self._put_over("/etc/hosts")
        if os.path.lexists("/etc/resolv.conf"):
            os.close(self._put_over("/etc/resolv.conf"))

    def _ask_for_names(self):
        """Sends DNS queries to addresses inside the namespace, from which the guard forwards them."""
        self.questions = [_open_questions(place) for place in here.inner_nameservers(len(self.nameservers))]
        if self.nameservers:
            fd = self._put_over("/etc/resolv.conf")
            os.write(fd, self.resolver.encode())
            os.close(fd)

    def _put_over(self, path):
        """Mounts an empty file, which only this process can write, over a path. Returns its descriptor."""
        if not os.path.exists(path):  # The path is a link into a folder that a mount covers.
            os.makedirs(os.path.dirname(os.path.realpath(path)), exist_ok=True)
            os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_WRONLY, 0o644))
        own = os.path.join(self.fresh[0], "own")
        fd = os.open(own, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        os.fchmod(fd, 0o644)
        linux.mount(own, path, None, linux.BIND)
        os.unlink(own)
        return fd

    def _make_fresh(self):
        """Mounts fresh folders. Hides the harness's folder, except the workflow's modules (`_LIB_INSIDE`)."""
        lib = os.path.join(self.root, "lib")
        has_lib = os.path.isdir(lib)
        os.chdir(lib if has_lib else "/")
        for folder in self.fresh:
            linux.mount("tmpfs", folder, "tmpfs", linux.NOSUID | linux.NODEV, _FRESH[folder])
        if has_lib:
            os.makedirs(_LIB_INSIDE, exist_ok=True)
            linux.mount(".", _LIB_INSIDE, None, linux.BIND)
        os.chdir("/")
        if os.path.isdir(self.root):
            linux.mount("tmpfs", self.root, "tmpfs", linux.NOSUID | linux.NODEV, "size=4k,mode=755")

    def hand_out(self, folder):
        """Returns a descriptor of a folder outside the isolation into which code may write."""
        return linux.detached(folder) if self.isolated else os.open(folder, os.O_RDONLY | os.O_DIRECTORY)

    def show_files(self, folder):
        """Returns a descriptor of a folder outside the isolation. Its files are read-only, even if a process reopens
        them."""
        return linux.detached(folder, is_read_only=True) if self.isolated else self.hand_out(folder)

    @property
    def lib(self):
        return _LIB_INSIDE if self.isolated else os.path.join(self.root, "lib")

    def settle(self):
        """Drops rights and sets limits. Call it after `enter`, in the same process. Returns the folder that is both the
        home and the working folder."""
        os.setsid()
        home = self._make_home()
        _offer_to_the_oom_killer()
        if self.user is not None:
            linux.named(os.setgroups, [])
            linux.named(os.setresgid, self.user, self.user, self.user)
            linux.named(os.setresuid, self.user, self.user, self.user)
        elif self.isolated:
            linux.drop_capabilities()
        die_with_parent()  # The change of the user has undone the earlier call of die_with_parent.
        # Other code of the same user must not read the memory of this process while it waits.
        linux.prctl(linux.DUMPABLE, 0)
        linux.prctl(linux.NO_NEW_PRIVS, 1)
        if self.isolated:
            self.listener = seccomp.shut(self.asks)
        self.landlock = None
        if self.landlock_version is not None:
            with linux.where_supported():
                self.landlock = Landlock(self.landlock_version, self.top_folders, self.fresh)
        self._limit()
        os.umask(0o022)
        try:
            os.chdir(home)
        except PermissionError:  # Without isolation, `home` is the kernel's folder, which may belong to root.
            home = "/tmp"
            os.chdir(home)
        return home

    def way_out(self):
        """Returns (message for the guard, open files for the guard). Call it after `settle`. The caller must not leave
        the files open in this process."""
        if not self.asks:
            return {}, []
        return {"nameservers": self.nameservers}, [self.listener, *(sock.detach() for sock in self.questions)]

    def shut(self, out):
        """Drops the last rights, after `settle` and right before the code. `out` is the folder for its results."""
        if self.landlock:
            self.landlock.shut(out)
        linux.prctl(linux.DUMPABLE, 1)  # A process that is not dumpable could not list its own descriptors.
        most = min(_CODE_DESCRIPTORS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most - _FOR_THE_RESULT, most))

    def _make_home(self):
        if not self.isolated:
            return os.getcwd()
        for folder in (_HOME, _MAIN):
            os.makedirs(folder, 0o700, exist_ok=True)
            if self.user is not None:
                os.chown(folder, self.user, self.user)
        return _HOME

    def main_folder(self):
        """Returns a folder from which child processes import the code."""
        return _MAIN if self.isolated else tempfile.mkdtemp(prefix="nova-main-")

    def _limit(self):
        _lower(resource.RLIMIT_CORE, 0)
        if _is_linux:
            _lower(resource.RLIMIT_DATA, memory.LIMIT_BYTES)
            for name, value in _CODE_LIMITS.items():
                _lower(getattr(resource, name), value)
        _lower(resource.RLIMIT_NPROC, self.others + _PROCESSES)


def _open_questions(place):
    questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    questions.bind(place)
    return questions


def _is_mapped(uid):
    """False if a user namespace does not map this id, so that no process can use it."""
    try:
        with open("/proc/self/uid_map") as ids:
            rows = [list(map(int, line.split())) for line in ids]
    except OSError:
        return True
    return any(first <= uid < first + count for first, _, count in rows)


def _count_tasks():
    """Returns twice the number of threads in the user's other programs. These threads count towards the process limit,
    and their number may grow."""
    tasks = 0
    for folder in glob.glob("/proc/[0-9]*/task"):
        with contextlib.suppress(OSError):  # A process may end meanwhile.
            if os.stat(folder).st_uid == os.geteuid():
                tasks += len(os.listdir(folder))
    return 2 * tasks if tasks else _UNKNOWN_TASKS


def _top_folders():
    with os.scandir("/") as entries:
        return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def _others_may_read(path):
    """False if only root can read this path, such as a Python installation in root's home."""
    while path != "/":
        if not os.stat(path).st_mode & stat.S_IXOTH:
            return False
        path = os.path.dirname(path)
    return True


def _may_be_covered(folder):
    """True for an existing folder that holds no part of this Python installation."""
    places = [sys.base_prefix, sys.prefix, *sys.path]
    is_folder = os.path.isdir(folder) and not os.path.islink(folder)
    return is_folder and not any(place.startswith(f"{folder}/") for place in places)


def give_up_rights():
    """Drops capabilities of a harness process that handles foreign data. It keeps its user."""
    linux.drop_capabilities()
    linux.prctl(linux.NO_NEW_PRIVS, 1)


def close_all_but(*keep):
    for fd in map(int, os.listdir("/dev/fd")):
        if fd > 2 and fd not in keep:
            with contextlib.suppress(OSError):  # The descriptor that listed the folder is already closed.
                os.close(fd)


def raise_descriptors():
    """Raises the limit of descriptors to its maximum. In the code's process, this call after the code makes the
    descriptors available that are reserved for the result."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):  # macOS reports "unlimited", but accepts only lower values.
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _lower(kind, value):
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _offer_to_the_oom_killer():
    # Asks the system to kill this process first if memory runs out. If the system forbids this request, its own choice
    # is good enough.
    with contextlib.suppress(OSError):
        score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(score, b"500")
        os.close(score)
