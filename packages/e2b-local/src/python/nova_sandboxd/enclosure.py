"""Isolates a sandbox from this machine, in two steps. First, bubblewrap starts the launcher with read-only mounts, and
the launcher enters a user namespace whose root is no user of the host. In this namespace the kernel locks the mounts,
so root in a sandbox cannot make them writable and cannot remove them. Then each sandbox gets its own pids, mounts and
user namespace, and a private disk in memory as its root folder. The kernel counts processes per user namespace, so the
limit for processes also holds for root in the sandbox."""

import contextlib
import errno
import os
import random
import socket
import stat

from . import linux

_SHARED = ("usr", "opt", "etc", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix", "dev")
_PRIVATE = {
    "tmp": 0o1777, "root": 0o700, "home": 0o755, "home/user": 0o755, "run": 0o755, "mnt": 0o755, "srv": 0o755,
    "proc": 0o555, "var": 0o755, "var/tmp": 0o1777, "var/lib": 0o755, "var/log": 0o755, "var/cache": 0o755,
}  # fmt: skip
# The limits of one sandbox for resources that the kernel counts per user. All sandboxes together count for one user of
# the host, so these limits leave enough for 30 more sandboxes (Linux allows a user 128 instances of inotify).
_MOST = {
    "max_inotify_instances": 4, "max_inotify_watches": 512, "max_fanotify_groups": 4, "max_fanotify_marks": 512,
    "max_user_namespaces": 16,
}  # fmt: skip
_MOST_TERMINALS = 64  # All sandboxes together can have 3,072 terminals.
_PROC_FLAGS = linux.NOSUID | linux.NODEV | linux.NOEXEC


class Ids:
    """A block of user ids. While it is reserved, no other sandbox on this machine has the same block. A sandbox
    reserves its block by a socket name, because the kernel gives each name to only one process. `root` is the first id
    of the block, as the launcher sees it."""

    def __init__(self, blocks, block_ids):
        self.register = socket.socket(socket.AF_UNIX)
        block = self._take(blocks) if blocks > 1 else 0
        self.root = block * block_ids
        self.map = f"0 {self.root} {block_ids}"

    def _take(self, blocks):
        # The search starts at a random block, because sandboxes in other network namespaces do not see each other's
        # socket names.
        first = random.SystemRandom().randrange(1, blocks)
        for block in [*range(first, blocks), *range(1, first)]:
            try:
                self.register.bind(f"\0nova-sandbox-ids-{block}")
                return block
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
        raise OSError(errno.EAGAIN, "all blocks of user ids are in use")


def write_map(pid, line):
    """Sets the user ids of a process's namespace. `line` is a row as in user_namespaces(7): first id inside, first id
    outside, count."""
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/{pid}/{name}", "w") as ids:
            ids.write(line)


def become_unprivileged_root(line):
    """Stops being root on the host: this process moves into a user namespace, in which it is root. Its next fork is pid
    1 of a new pid namespace."""
    # This process later mounts a new /proc in a namespace. The kernel allows that only if the process sees a complete
    # /proc, and bubblewrap has covered parts of the first one.
    mount_proc()
    unshared, mapped = os.pipe(), os.pipe()
    launcher = os.getpid()
    helper = os.fork()
    if helper == 0:
        os.read(unshared[0], 1)
        try:
            write_map(launcher, line)
        except OSError as error:
            os._exit(error.errno)
        os._exit(0)
    linux.unshare(linux.NEWUSER | linux.NEWNS | linux.NEWPID)
    os.write(unshared[1], b".")
    _, status = os.waitpid(helper, 0)
    for end in (*unshared, *mapped):
        os.close(end)
    if status != 0:
        number = os.waitstatus_to_exitcode(status)
        raise OSError(number, os.strerror(number) if number > 0 else "killed", "uid_map")
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    # The kernel has made this process undumpable, because its user ids have changed. While it is undumpable, its
    # children's maps of user ids cannot be written.
    linux.set_dumpable(True)


def mount_proc(place="/proc"):
    linux.mount("proc", place, "proc", _PROC_FLAGS)


def enclose(internet, disk_bytes, user_id, ids, await_map):
    """Isolates the sandbox. Has to run as pid 1 of a new pid namespace. `await_map` returns when the parent has set the
    user ids of this process's user namespace."""
    linux.unshare(linux.NEWNS | linux.NEWIPC | linux.NEWUTS | (0 if internet else linux.NEWNET))
    socket.sethostname("e2b.local")
    if not internet:
        linux.raise_loopback()
    owner = f"uid={ids.root},gid={ids.root}"
    linux.mount("nova", "/mnt", "tmpfs", linux.NOSUID | linux.NODEV, f"size={disk_bytes},mode=0755,{owner}")
    _lay_folders("/mnt", ids.root, user_id)
    # This mount needs the complete /proc that `become_unprivileged_root` has mounted. That /proc is no longer visible
    # after the change of the root.
    mount_proc("/mnt/proc")
    linux.enter_root("/mnt")
    linux.mount("devpts", "/dev/pts", "devpts", linux.NOSUID | linux.NOEXEC, f"newinstance,ptmxmode=0666,mode=620,max={_MOST_TERMINALS}")
    linux.mount("shm", "/dev/shm", "tmpfs", linux.NOSUID | linux.NODEV, f"size={disk_bytes},mode=1777,{owner}")
    _become(ids.root)
    linux.unshare(linux.NEWUSER | linux.NEWNS)
    await_map()
    _limit_counts()


def _become(root):
    """Becomes the user who owns the next user namespace, because the kernel counts resources per owner."""
    os.setresgid(root, root, root)
    os.setresuid(root, root, root)
    linux.set_dumpable(True)  # Without this, the parent may not write the map.


def _limit_counts():
    for name, most in _MOST.items():
        # Older kernels lack some of these files.
        with contextlib.suppress(FileNotFoundError), open(f"/proc/sys/user/{name}", "w") as file:
            file.write(str(most))


def _lay_folders(disk, root, user_id):
    for name in _SHARED:
        source, target = f"/{name}", f"{disk}/{name}"
        try:
            mode = os.lstat(source).st_mode
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink(source), target)
        else:
            os.mkdir(target)
            linux.bind(source, target)
    for name, mode in _PRIVATE.items():
        os.mkdir(f"{disk}/{name}")
        os.chmod(f"{disk}/{name}", mode)
        os.chown(f"{disk}/{name}", root, root)
    os.chown(f"{disk}/home/user", root + user_id, root + user_id)
