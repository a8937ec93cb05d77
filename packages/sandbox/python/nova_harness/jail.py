"""
The walls around one node's code: pids and mounts of its own, fresh /tmp and home, nothing of the harness in sight, an
unprivileged user without a way back, limits on memory and processes. Where the system refuses namespaces the code still
gets its own process group, session and limits, and the harness says so.
"""

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

from . import here, linux, memory, ways_out
from .landlock import Landlock, version_here

_NOBODY = 65534
_SCRATCH = "size=512m,mode=1777"
_FRESH = {
    "/tmp": _SCRATCH,
    "/var/tmp": _SCRATCH,
    "/dev/shm": _SCRATCH,
    "/home": "size=512m,mode=755",
    "/root": "size=1m,mode=755",
    "/run": "size=1m,mode=755",  # where the system's programs have their sockets
}
_LIB_INSIDE = "/home/lib"
_HOME, _MAIN = "/home/node", "/home/main"

_PROCESSES = 128
# The harness keeps its own limits, which are higher: where it has the user id of the code, a flood of the code ends before
# the harness has nothing left. The kernel compares descriptors on their way between processes (SCM_RIGHTS) with the limit
# of the sender, and is slow for users that have 2,000 of them.
_CODE_DESCRIPTORS, _FOR_THE_RESULT = 1024, 16
_CODE_LIMITS = {"RLIMIT_SIGPENDING": 256, "RLIMIT_MSGQUEUE": 100_000, "RLIMIT_MEMLOCK": 1 << 16}
_UNKNOWN_TASKS = 2000

_is_linux = sys.platform == "linux"


def adopt_orphans():
    linux.prctl(linux.CHILD_SUBREAPER, 1)


def die_with_parent():
    linux.prctl(linux.PDEATHSIG, signal.SIGKILL)


def of_kind(root, kind):
    """The same walls again, by what another process calls their kind."""
    isolated, asks, has_doors = kind
    walls = Jail(isolated, root, asks)
    return walls.without_network() if has_doors else walls


class Jail:
    """
    `asks`: what runs in it reaches other hosts through the guard. `has_doors`: it reaches nothing that is not let in
    (see porter.py). With neither it has the sandbox's own network.
    """

    def __init__(self, isolated, root, asks=False):
        self.isolated, self.root, self.asks, self.has_doors = isolated, root, asks, False
        self.hosts = None
        self.nameservers, others = here.read_resolver()
        self.resolver = here.inner_resolver(len(self.nameservers), others)
        self.top_folders = _top_folders() if isolated else []
        self.fresh = [folder for folder in _FRESH if isolated and _may_be_covered(folder)]
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
        """
        Like os.fork, but the child is the first process of a pid namespace: with it everything in there dies. The call
        that forks and unshares at once is too plain for processes that run anybody's code (the C library does not hear
        of it), so the child forks in the ordinary way before that.
        """
        if not self.isolated:
            return os.fork()
        own_network = linux.NEWNET if self.has_own_network else 0
        return linux.fork(linux.NEWPID | own_network | signal.SIGCHLD)

    def enter(self):
        """
        In the process that will run the code: mounts, queues and semaphores of its own, which end with the last process
        that sees them.
        """
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
        with linux.where_supported():  # some containers put covers on /proc; the old one shows pids, but no data
            linux.mount("proc", "/proc", "proc", linux.NOSUID | linux.NODEV, "hidepid=2")  # what it may not look into

    def _forget_names(self):
        """No name leads anywhere but those that will be written to `hosts`."""
        self.hosts = self._put_over("/etc/hosts")
        if os.path.lexists("/etc/resolv.conf"):
            os.close(self._put_over("/etc/resolv.conf"))

    def _ask_for_names(self):
        """Of name servers in its own network, whose questions the guard carries on."""
        self.questions = [_open_questions(place) for place in here.inner_nameservers(len(self.nameservers))]
        if self.nameservers:
            fd = self._put_over("/etc/resolv.conf")
            os.write(fd, self.resolver.encode())
            os.close(fd)

    def _put_over(self, path):
        """An empty file that only this process can write, open."""
        if not os.path.exists(path):  # a link into a folder that has been covered
            os.makedirs(os.path.dirname(os.path.realpath(path)), exist_ok=True)
            os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_WRONLY, 0o644))
        own = os.path.join(self.fresh[0], "own")
        fd = os.open(own, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        os.fchmod(fd, 0o644)
        linux.mount(own, path, None, linux.BIND)
        os.unlink(own)
        return fd

    def _make_fresh(self):
        """Of the harness's folder only the workflow's modules stay visible, at a place of their own."""
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
        """A descriptor of a folder outside, for code to put its files in."""
        return linux.detached(folder) if self.isolated else os.open(folder, os.O_RDONLY | os.O_DIRECTORY)

    def show_files(self, folder):
        """A descriptor of a folder outside; files opened from there can only be read, whoever opens them again."""
        if not self.isolated:
            return self.hand_out(folder)
        return linux.detached(folder, is_read_only=True)

    @property
    def lib(self):
        return _LIB_INSIDE if self.isolated else os.path.join(self.root, "lib")

    def settle(self):
        """Behind `enter`, in the same process. Returns its home, which is also where it starts."""
        os.setsid()
        home = self._make_home()
        _offer_to_the_oom_killer()
        if self.user is not None:
            linux.named(os.setgroups, [])
            linux.named(os.setresgid, self.user, self.user, self.user)
            linux.named(os.setresuid, self.user, self.user, self.user)
        elif self.isolated:
            linux.drop_capabilities()
        die_with_parent()  # a change of user clears it
        linux.prctl(linux.DUMPABLE, 0)  # while it waits, other code runs as the same user, and an old /proc may show it
        linux.prctl(linux.NO_NEW_PRIVS, 1)
        if self.isolated:
            self.listener = ways_out.shut(self.asks)
        self.landlock = None
        if self.landlock_version is not None:
            with linux.where_supported():
                self.landlock = Landlock(self.landlock_version, self.top_folders, self.fresh)
        self._limit()
        os.umask(0o022)
        try:
            os.chdir(home)
        except PermissionError:  # without walls it is the kernel's own folder, which may be root's
            home = "/tmp"
            os.chdir(home)
        return home

    def way_out(self):
        """({what the guard has to know}, open files for it) behind `settle`; this process keeps none of them."""
        if not self.asks:
            return {}, []
        return {"nameservers": self.nameservers}, [self.listener, *(sock.detach() for sock in self.questions)]

    def shut(self, out):
        """Behind `settle`, right before the code, whose folder for results this is."""
        if self.landlock:
            self.landlock.shut(out)
        linux.prctl(linux.DUMPABLE, 1)  # else a process may not even list its own descriptors
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
        """A folder of the code's user, where processes that the code starts find the code."""
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
    """In a user namespace most ids mean nobody at all, and cannot be taken."""
    try:
        with open("/proc/self/uid_map") as ids:
            rows = [list(map(int, line.split())) for line in ids]
    except OSError:
        return True
    return any(first <= uid < first + count for first, _, count in rows)


def _count_tasks():
    """A person's other programs count towards the limit too, thread by thread; there will be more of them later."""
    tasks = 0
    for folder in glob.glob("/proc/[0-9]*/task"):
        with contextlib.suppress(OSError):  # gone meanwhile
            if os.stat(folder).st_uid == os.geteuid():
                tasks += len(os.listdir(folder))
    return 2 * tasks if tasks else _UNKNOWN_TASKS


def _top_folders():
    with os.scandir("/") as entries:
        return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def _others_may_read(path):
    """A Python inside root's home cannot import anything once it is not root any more."""
    while path != "/":
        if not os.stat(path).st_mode & stat.S_IXOTH:
            return False
        path = os.path.dirname(path)
    return True


def _may_be_covered(folder):
    """A folder that is there, and without which Python can go on."""
    places = [sys.base_prefix, sys.prefix, *sys.path]
    is_folder = os.path.isdir(folder) and not os.path.islink(folder)
    return is_folder and not any(place.startswith(f"{folder}/") for place in places)


def give_up_rights():
    """Of a process of the harness that deals with strangers; it stays the same user."""
    linux.drop_capabilities()
    linux.prctl(linux.NO_NEW_PRIVS, 1)


def close_all_but(*keep):
    for fd in map(int, os.listdir("/dev/fd")):
        if fd > 2 and fd not in keep:
            with contextlib.suppress(OSError):  # the one that listed the folder is closed already
                os.close(fd)


def raise_descriptors():
    """
    For a process of the harness, and those that it forks until the code begins. After the code it gives back what was kept
    for the result.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):  # macOS says unlimited, and means less
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _lower(kind, value):
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _offer_to_the_oom_killer():
    # Some systems let nobody choose, and choose well enough.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("500")
