"""Hosts for tests: servers in the sandbox's network, at addresses that look like those of other
machines.
"""

import ctypes
import json
import os
import signal
import socket
import sys
import threading

OUTSIDE, OWN = "10.77.0.1", "10.77.0.2"
ECHO, INTERPRETER, LOCAL = 7007, 49999, 1025


def _serve(log, address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.create_server((address, port), family=family)
    threading.Thread(target=_accept, args=(log, listener), daemon=True).start()


def _accept(log, listener):
    while True:
        connection, _ = listener.accept()
        with open(log, "a") as file:
            file.write(json.dumps(listener.getsockname()[:2]) + "\n")
        threading.Thread(target=_echo, args=(connection,), daemon=True).start()


def _echo(connection):
    with connection:
        while data := connection.recv(1 << 16):
            connection.sendall(data)


def _answer_names():
    """Answers a query for any name with the outside address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as names:
        names.bind((OUTSIDE, 53))
        while True:
            question, who = names.recvfrom(4096)
            is_ipv4 = question[-4:-2] == b"\0\1"
            answer = b"\xc0\x0c\0\1\0\1\0\0\0\x09\0\4" + socket.inet_aton(OUTSIDE) if is_ipv4 else b""
            flags_and_counts = b"\x81\x80\0\1" + (b"\0\1" if is_ipv4 else b"\0\0") + bytes(4)
            end = question.index(b"\0", 12) + 5
            names.sendto(question[:2] + flags_and_counts + question[12:end] + answer, who)


def main(log):
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # This process ends when the kernel of the sandbox ends.
    places = [(OUTSIDE, ECHO), (OWN, ECHO), ("127.0.0.1", INTERPRETER), ("127.0.0.1", LOCAL), ("::1", LOCAL)]
    for address, port in places:
        _serve(log, address, port)
    with open(f"{log}.ready", "w"):
        pass
    _answer_names()


if __name__ == "__main__":
    main(sys.argv[1])


def prepare(sandbox, folder):
    """Prepares a sandbox with these hosts, which record their visitors in `folder`. Call it before the first node."""
    log = f"{folder}/visits"
    # The file is passed as text, because the sandbox's user may not be able to read this folder.
    with open(__file__) as file:
        hosts = file.read()
    problems = sandbox.kernel().run(f"""
import os, subprocess, sys, time
from nova_harness import here, netns
import ipaddress
netns.raise_loopback()
for address in ({OUTSIDE!r}, {OWN!r}):
    netns._add_to_loopback(ipaddress.ip_address(address))
is_own = here._is_own
here._is_own = lambda address: str(address) != {OUTSIDE!r} and is_own(address)
here.read_resolver = lambda: ([{OUTSIDE!r}], [])
silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
hosts = subprocess.Popen([sys.executable, "-c", {hosts!r}, {log!r}], **silent)
while not os.path.exists({log + ".ready"!r}):
    assert hosts.poll() is None, "the hosts have ended"
    time.sleep(0.01)
""")
    if problems:
        raise RuntimeError("\n".join(problems))
    return log
