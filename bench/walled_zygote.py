"""Runs each piece of code in its own Python process. This program forks the process, and the process isolates itself as
NOVA's harness does: with the same namespaces, mounts, user, filter of system calls and limits.

Arguments: the path of the Unix socket to listen on, and a folder for results, which the isolation requires. The program
prints a line when it listens. A client sends one line of JSON, {"code", "context"}. The answer is the context after the
code has run. The connection ends when the process of the code has ended.
"""

import json
import os
import signal
import socket
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../packages/sandbox/python"))

from nova_harness import jail, netns

ISOLATED, ASKS, HAS_DOORS = True, False, True


def become_init(walls: jail.Jail, connection: socket.socket, out: int) -> None:
    netns.raise_loopback()
    code = os.fork()
    if code != 0:
        connection.close()
        os.waitpid(code, 0)
        return
    walls.enter()
    walls.settle()
    walls.shut(out)
    with connection.makefile("rw") as stream:
        asked = json.loads(stream.readline())
        exec(asked["code"], {"context": asked["context"]})
        json.dump(asked["context"], stream)


def main() -> None:
    path, results = sys.argv[1:]
    walls = jail.of_kind(results, (ISOLATED, ASKS, HAS_DOORS))
    out = walls.hand_out(results)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(1024)
        print("listening", flush=True)
        while True:
            connection, _ = server.accept()
            if walls.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                server.close()
                try:
                    become_init(walls, connection, out)
                finally:
                    os._exit(0)
            connection.close()


signal.signal(signal.SIGCHLD, signal.SIG_IGN)
main()
