"""Helpers for tests of code with its own network."""

import os
import sys
import unittest

from servers import Server
from support import Sandbox, a_python_for_everybody

IS_ROOT = sys.platform == "linux" and os.geteuid() == 0
PYTHON = a_python_for_everybody() if IS_ROOT else None
needs_walls = unittest.skipUnless(IS_ROOT and PYTHON, "needs root and a Python that everybody may run")

# The code of a node that sends the data in `context`, then closes its sending side, and reads the whole answer.
TALK = """
import socket
with socket.create_connection((context["host"], context["port"]), 10) as connection:
    connection.sendall(context["data"].encode())
    connection.shutdown(socket.SHUT_WR)
    answer = b""
    while part := connection.recv(1 << 16):
        answer += part
context["answer"] = answer
"""

ATTEMPTS = """
def attempt(action):
    try:
        return repr(action())
    except OSError as error:
        return type(error).__name__
"""

def talk_to(host, port, data="x"):
    return {"host": f'"{host}"', "port": str(port), "data": f'"{data}"'}


class WithNetwork(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox(python=PYTHON)
        self.addCleanup(self.sandbox.close)

    def serve(self, **how):
        server = Server(**how)
        self.addCleanup(server.close)
        return server

    def answer(self, host, port, allow, data="x"):
        return self.sandbox.changes(TALK, talk_to(host, port, data), allow=allow)["answer"]

    def failure(self, host, port, allow):
        result = self.sandbox.run(TALK, talk_to(host, port), allow=allow)
        self.assertEqual(result["status"], "error", result)
        return result
