"""Reads, writes and removes files of the sandbox for root, as envd (E2B's agent) does."""

import contextlib
import errno
import os
import shutil
import stat

_OWN_FOLDERS = ("/home/", "/root/", "/tmp/")  # Folders that each sandbox without isolation has for itself.
_CODES = {
    errno.ENOENT: "not_found",
    errno.ENOTDIR: "not_found",
    errno.EISDIR: "invalid_argument",
    errno.ENOSPC: "resource_exhausted",
    errno.EDQUOT: "resource_exhausted",
}


class Refused(Exception):
    """An error for the client: a code of the Connect protocol, from which the server derives the HTTP status, and a
    sentence."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code

    def answer(self):
        return {"error": {"code": self.code, "message": str(self)}}


class Files:
    """`root` is the folder that the sandbox sees as /: "" in a sandbox with its own mounts."""

    def __init__(self, root):
        self.root = root

    def locate(self, path):
        """Converts a path in the sandbox to the path at which this process finds the same file."""
        if not path.startswith("/"):
            raise Refused("invalid_argument", f"path '{path}' does not begin with /")
        is_own = not path.startswith(self.root) and f"{path}/".startswith(_OWN_FOLDERS)
        return self.root + path if is_own else path

    def receive(self, connection, path):
        # O_NONBLOCK: opening a fifo must not stop the agent.
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC
        with _described("error opening file"):
            os.makedirs(os.path.dirname(self.locate(path)), 0o755, exist_ok=True)
            fd = os.open(self.locate(path), flags, 0o666)
        broken = []

        def write(data):
            view = memoryview(data)
            try:
                with _described("error writing file"):
                    while view and not broken:
                        view = view[os.write(fd, view) :]
            except Refused as refused:
                # Reads the rest of the body first, because the server might not get a response that is sent in the
                # middle of it.
                broken.append(refused)

        def end():
            os.close(fd)
            written = {"value": {"path": path, "name": os.path.basename(path), "type": "file"}}
            connection.answer(broken[0].answer() if broken else written)

        connection.on_body, connection.on_end = write, end

    def send(self, connection, path):
        with _described("error opening file"):
            fd = os.open(self.locate(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            os.close(fd)
            raise Refused("invalid_argument", f"path '{path}' is a directory, device, pipe or socket")
        connection.send_json({"value": {"path": path, "size": info.st_size}})
        connection.send_file(os.fdopen(fd, "rb", buffering=0), info.st_size)
        connection.finish()

    def remove(self, path):
        place = self.locate(path)
        with _described("error removing file or directory"):
            if os.path.isdir(place) and not os.path.islink(place):
                _remove_folder(place)
            elif os.path.lexists(place):
                os.unlink(place)


def _remove_folder(place):
    """Removes a folder, even if a process in the sandbox removes files in it at the same time."""
    while os.path.isdir(place):
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(place)


@contextlib.contextmanager
def _described(what):
    """Turns an OSError into the error with the sentence that envd would send."""
    try:
        yield
    except OSError as error:
        raise Refused(_CODES.get(error.errno, "internal"), f"{what}: {error}") from error
