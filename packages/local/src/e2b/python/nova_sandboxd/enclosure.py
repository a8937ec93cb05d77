"""
The walls around a sandbox, in two steps.

The launcher, started by bubblewrap with the read-only mounts in place, moves into a user namespace whose root is nobody
on the host. The kernel locks every mount that crosses into it, so that no root below can lift a read-only flag or look
under a mount. Each sandbox then gets its own pids, mounts, user namespace (the kernel counts processes per user
namespace, which makes its limit hold for root too) and one private disk in memory, which is its root folder.
"""

import os
import socket
import stat

from . import linux

_SHARED = ("usr", "opt", "etc", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix", "dev")
_PRIVATE = {
    "tmp": 0o1777, "root": 0o700, "home": 0o755, "home/user": 0o755, "run": 0o755, "mnt": 0o755, "srv": 0o755,
    "proc": 0o555, "var": 0o755, "var/tmp": 0o1777, "var/lib": 0o755, "var/log": 0o755, "var/cache": 0o755,
}  # fmt: skip
_PROC_FLAGS = linux.NOSUID | linux.NODEV | linux.NOEXEC


def write_map(pid, line):
    """`line` is one row of user_namespaces(7): first id inside, first id outside, how many."""
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/{pid}/{name}", "w") as ids:
            ids.write(line)


def become_unprivileged_root(line):
    """Leaves the host's root behind; the next fork is pid 1 of a namespace that this process may manage."""
    mount_proc()  # bubblewrap's has covers, and the kernel allows a new one only where a whole one is in sight
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
    linux.set_dumpable(True)  # a change of ids clears it, and then nobody may write the maps of the children


def mount_proc(place="/proc"):
    linux.mount("proc", place, "proc", _PROC_FLAGS)


def enclose(internet, disk_bytes, user_id, await_map):
    """Run as pid 1 of a new pid namespace. `await_map` returns when the parent has written the user namespace's ids."""
    linux.unshare(linux.NEWNS | linux.NEWIPC | linux.NEWUTS | (0 if internet else linux.NEWNET))
    socket.sethostname("e2b.local")
    if not internet:
        linux.raise_loopback()
    linux.mount("nova", "/mnt", "tmpfs", linux.NOSUID | linux.NODEV, f"size={disk_bytes},mode=0755")
    _lay_folders("/mnt", user_id)
    mount_proc("/mnt/proc")  # while the old one is in sight, for the kernel's sake as above
    linux.enter_root("/mnt")
    linux.mount("devpts", "/dev/pts", "devpts", linux.NOSUID | linux.NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    linux.mount("shm", "/dev/shm", "tmpfs", linux.NOSUID | linux.NODEV, f"size={disk_bytes},mode=1777")
    linux.unshare(linux.NEWUSER | linux.NEWNS)
    await_map()


def _lay_folders(disk, user_id):
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
    os.chown(f"{disk}/home/user", user_id, user_id)
