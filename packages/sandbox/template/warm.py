"""A Python process with the template's packages imported. It runs in the snapshot from which every sandbox starts. The
first attach sends it a listening socket and the harness's folder, and it becomes the sandbox's daemon, so no node waits
for imports."""

import importlib
import os
import runpy
import socket
import sys

PATH = "/run/nova-warm.sock"
PACKAGES = (
    "asyncio base64 calendar collections concurrent.futures csv datetime decimal email.message email.policy hashlib "
    "html io json logging math pathlib random re smtplib sqlite3 ssl statistics string subprocess tempfile traceback "
    "urllib.request uuid xml.etree.ElementTree zipfile zoneinfo fitz pandas requests PIL.Image psycopg"
).split()


def main(path=PATH, packages=PACKAGES):
    for name in packages:
        try:
            importlib.import_module(name)
        except Exception as error:
            print(f"{name} cannot be imported: {error!r}", file=sys.stderr)
    become_daemon(*await_root(path))


def await_root(path):
    """Waits for the first attach. Returns (the harness's root, the descriptor of a listening socket)."""
    if os.path.exists(path):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX) as warm:
        warm.bind(path)
        os.chmod(path, 0o600)
        warm.listen(1)
        connection, _ = warm.accept()
    os.unlink(path)
    line, listeners, _, _ = socket.recv_fds(connection, 4096, 1)
    connection.sendall(b"{}\n")
    connection.close()
    return line.decode().strip(), listeners[0]


def become_daemon(root, listener):
    runpy.run_path(f"{root}/harness.py")
    from nova_harness import daemon

    daemon.main(listener, root)


if __name__ == "__main__":
    main()
