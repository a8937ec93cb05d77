"""The sandbox's files, as envd serves them: it acts as root and gives what it makes to the user who asked."""

import errno
import os
import pwd
import shutil
import stat
import time

_OWN_FOLDERS = ("/home/", "/root/", "/tmp/")  # those that a sandbox without walls has for itself
USERS = {"root": (0, "/root"), "user": (1000, "/home/user")}


class Refused(Exception):
    """Answered as it is: a Connect code, from which the server derives the HTTP status, and a sentence."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Files:
    """`root` is where the sandbox's absolute paths begin: "" in a sandbox with its own mounts."""

    def __init__(self, root, isolated, single_user):
        self.root, self.isolated, self.single_user = root, isolated, single_user

    def user(self, name):
        name = name or "user"
        if name not in USERS:
            raise Refused("unauthenticated", f"error looking up user '{name}': user: unknown user {name}")
        number, home = USERS[name]
        return (0 if self.single_user else number), home

    def resolve(self, path, user):
        """Returns the path as the client sees it; `locate` makes it a path of this process."""
        _, home = self.user(user)
        if path.startswith("~"):
            if len(path) > 1 and path[1] != "/":
                raise Refused("invalid_argument", "cannot expand user-specific home dir")
            path = home + path[1:]
        return path if path.startswith("/") else os.path.normpath(os.path.join(home, path))

    def locate(self, path):
        if self.isolated or path.startswith(self.root):
            return path
        return self.root + path if f"{path}/".startswith(_OWN_FOLDERS) else path

    # --- whole files ------------------------------------------------------------------------------

    def open_for_writing(self, path, user):
        shown = self.resolve(path, user)
        place = self.locate(shown)
        number, _ = self.user(user)
        self.make_folders(os.path.dirname(place), number)
        if os.path.isdir(place):
            raise Refused("invalid_argument", f"path is a directory: {shown}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC  # a fifo must not stop the agent
        with _described("error opening file"):
            fd = os.open(place, flags, 0o666)
        self._give(fd, number)
        return shown, fd

    def open_for_reading(self, path, user):
        shown = self.resolve(path, user)
        try:
            fd = os.open(self.locate(shown), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            raise Refused("not_found", f"path '{shown}' does not exist") from None
        except OSError as error:
            raise Refused("internal", f"error opening file '{shown}': {error}") from error
        info = os.fstat(fd)
        if stat.S_ISREG(info.st_mode):
            return shown, os.fdopen(fd, "rb", buffering=0), info.st_size
        os.close(fd)
        kind = "directory" if stat.S_ISDIR(info.st_mode) else "device, pipe or socket"
        raise Refused("invalid_argument", f"path '{shown}' is a {kind}")

    def make_folders(self, place, number):
        missing = []
        while not os.path.isdir(place):
            if os.path.lexists(place):
                raise Refused("internal", f"error ensuring directories: path is a file: {place}")
            missing.append(place)
            place = os.path.dirname(place)
        for folder in reversed(missing):
            with _described("failed to create directory"):
                os.mkdir(folder, 0o755)
            self._give(folder, number)

    def _give(self, target, number):
        if self.isolated:
            os.chown(target, number, number)

    # --- the filesystem service -------------------------------------------------------------------

    def stat(self, path, user):
        return self.describe(self.resolve(path, user))

    def list(self, path, user, depth):
        shown = self.resolve(path, user)
        place = self.locate(shown)
        if not os.path.exists(place):
            raise Refused("not_found", f"path not found: {shown}")
        if not os.path.isdir(place):
            raise Refused("invalid_argument", f"path is not a directory: {shown}")
        return list(self._walk(shown, max(1, depth)))

    def _walk(self, shown, depth):
        for name in sorted(os.listdir(self.locate(shown))):
            inner = os.path.join(shown, name)
            try:
                entry = self.describe(inner)
            except Refused:
                continue  # it was removed meanwhile
            yield entry
            if depth > 1 and entry["type"] == "FILE_TYPE_DIRECTORY" and "symlinkTarget" not in entry:
                yield from self._walk(inner, depth - 1)

    def make_dir(self, path, user):
        shown = self.resolve(path, user)
        place = self.locate(shown)
        if os.path.isdir(place):
            raise Refused("already_exists", f"directory already exists: {shown}")
        if os.path.lexists(place):
            raise Refused("invalid_argument", f"path already exists but it is not a directory: {shown}")
        self.make_folders(place, self.user(user)[0])
        return self.describe(shown)

    def move(self, source, destination, user):
        origin, target = self.resolve(source, user), self.resolve(destination, user)
        self.make_folders(os.path.dirname(self.locate(target)), self.user(user)[0])
        try:
            os.rename(self.locate(origin), self.locate(target))
        except FileNotFoundError:
            raise Refused("not_found", f"source file not found: {origin}") from None
        except OSError as error:
            raise Refused("internal", f"error renaming: {error}") from error
        return self.describe(target)

    def remove(self, path, user):
        place = self.locate(self.resolve(path, user))
        with _described("error removing file or directory"):
            if os.path.isdir(place) and not os.path.islink(place):
                shutil.rmtree(place)
            elif os.path.lexists(place):
                os.unlink(place)

    def describe(self, shown):
        place = self.locate(shown)
        try:
            link = os.lstat(place)
            seen = os.stat(place) if os.path.exists(place) else link
        except OSError:
            raise Refused("not_found", f"file not found: {shown}") from None
        entry = {
            "name": os.path.basename(shown), "type": _kind(seen.st_mode), "path": shown, "size": str(seen.st_size),
            "mode": stat.S_IMODE(seen.st_mode), "permissions": stat.filemode(seen.st_mode),
            "owner": _name_of(seen.st_uid), "group": _name_of(seen.st_gid), "modifiedTime": _timestamp(seen.st_mtime_ns),
        }  # fmt: skip
        if stat.S_ISLNK(link.st_mode):
            entry["symlinkTarget"] = os.readlink(place)
        return entry


class _described:
    """Turns an OSError into the sentence that envd would answer."""

    def __init__(self, what):
        self.what = what

    def __enter__(self):
        return self

    def __exit__(self, _kind, error, _trace):
        if isinstance(error, OSError):
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise Refused("resource_exhausted" if full else "internal", f"{self.what}: {error}") from error


def _kind(mode):
    if stat.S_ISDIR(mode):
        return "FILE_TYPE_DIRECTORY"
    return "FILE_TYPE_SYMLINK" if stat.S_ISLNK(mode) else "FILE_TYPE_FILE"


def _name_of(number):
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _timestamp(nanoseconds):
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest:09d}Z"
