"""Tests the isolation of a hostile node, in a sandbox with many user ids (E2B) and in one with a
single id (an ordinary user).
"""

import contextlib
import ctypes
import hashlib
import json
import os
import random
import socket
import string
import sys
import unittest

from support import ONE_USER, Sandbox, a_python_for_everybody, marked_processes, one_user_may_build_walls

_PYTHON = a_python_for_everybody() if sys.platform == "linux" else None
_ATTACKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attacks")
_HAS_LANDLOCK = sys.platform == "linux" and ctypes.CDLL(None).syscall(444, None, 0, 1) >= 2


def attack(name):
    with open(f"{_ATTACKS}/{name}.py") as file:
        return file.read()


class Escapes:
    maxDiff = None
    how = {}

    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox(lib={"tools.py": "x = 1\n"}, python=_PYTHON, **cls.how)
        cls.addClassCleanup(cls.sandbox.close)

    def values_of(self, code, **values):
        return self.sandbox.changes(code, {key: json.dumps(value) for key, value in values.items()})

    def listen(self, address):
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(address)
        listener.listen()
        if not address.startswith("\0"):
            self.addCleanup(os.unlink, address)
            os.chmod(address, 0o777)

    def test_no_attack_escapes_from_the_isolation(self):
        abstract = f"nova-escape-{os.getpid()}-{type(self).__name__}"
        in_tree = f"{self.sandbox.outside}/{abstract}.sock"
        self.listen(f"\0{abstract}")
        self.listen(in_tree)
        found = self.values_of(attack("escape"), root=self.sandbox.root, run_socket=in_tree, abstract=abstract)
        self.assertEqual(found["reached"], {})

    @unittest.skipUnless(_HAS_LANDLOCK, "needs a kernel with Landlock")
    def test_a_descriptor_of_a_folder_outside_does_not_open_files_there(self):
        sandbox = Sandbox(lib={"tools.py": "x = 1\n"}, python=_PYTHON, **self.how)
        self.addCleanup(sandbox.close)
        plain = "linux.detached = lambda folder, is_read_only=False: os.open(folder, os.O_RDONLY | os.O_DIRECTORY)"
        sandbox.kernel().run(f"import os; from nova_harness import linux; {plain}")
        code = f"""
import os, stat
def climb(fd, path):
    try:
        return repr(os.listdir(os.open(path, os.O_RDONLY, dir_fd=fd)))
    except OSError as error:
        return type(error).__name__
folders = [fd for fd in range(3, 64) if os.path.isdir(f"/proc/self/fd/{{fd}}")]
context["found"] = [climb(fd, path) for fd in folders for path in ("..", "../../../..", "../../../../inputs")]
"""
        found = sandbox.changes(code)["found"]
        self.assertEqual(found, ["PermissionError"] * 3)
        self.assertEqual(sandbox.changes("open('/tmp/a', 'w').close(); import tools; context['a'] = tools.x"), {"a": 1})

    def test_no_process_of_a_node_continues_after_the_end_of_the_node(self):
        code = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(64):
                try: os.close(fd)
                except OSError: pass
            os.execvp("sleep", ["sleep", "99"])
        os._exit(0)
"""
        self.sandbox.run(code, environment={"MARK": self.sandbox.root})
        self.values_of("context['a'] = 1")
        self.assertEqual(marked_processes(self.sandbox.root), [])

    def test_the_daemon_does_not_follow_links_that_code_has_created(self):
        secret = f"{self.sandbox.root}/inputs/secret"
        with open(secret, "w") as file:
            file.write("secret")
        self.addCleanup(lambda: contextlib.suppress(FileNotFoundError) and os.unlink(secret))
        plant = f"""
import os, stat
secret = {secret!r}
for fd in range(3, 64):
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            continue
    except OSError:
        continue
    for name, target in (("result", secret), ("a" * 64, secret), ("b" * 64, "/etc/passwd")):
        try: os.symlink(target, name, dir_fd=fd)
        except OSError: pass
    try: os.mkfifo("c" * 64, dir_fd=fd)
    except OSError: pass
    try: os.link("/etc/passwd", "d" * 64, dst_dir_fd=fd)
    except OSError: pass
"""
        result = self.sandbox.run(plant)
        self.assertNotIn("secret", json.dumps({**result, "message": ""}))
        kept = [name for name in os.listdir(f"{self.sandbox.root}/blobs") if name[0] * 64 == name]
        self.assertEqual(kept, [])
        self.assertEqual(self.values_of("context['a'] = 1"), {"a": 1})

    def test_no_node_finds_the_context_of_an_earlier_node_in_its_memory(self):
        secret = "canary-" + "".join(random.choices(string.ascii_letters, k=16))
        for _ in range(3):  # After a node was killed, the next one runs in a new process.
            self.sandbox.run("import time; time.sleep(9)", {"password": json.dumps(secret)}, timeout=0.1)
        found = self.values_of(attack("remember"), digest=hashlib.sha256(secret.encode()).hexdigest())
        self.assertEqual(found["remembered"], 0)

    def test_the_message_queues_and_semaphores_of_a_node_are_hidden_from_the_next_node(self):
        leave = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
context["made"] = [libc.msgget(0x4e4f5641, 0o1666) >= 0, libc.semget(0x4e4f5641, 1, 0o1666) >= 0]
"""
        find = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
context["found"] = [libc.msgget(0x4e4f5641, 0) >= 0, libc.semget(0x4e4f5641, 1, 0) >= 0]
"""
        self.assertEqual(self.values_of(leave)["made"], [True, True])
        self.assertEqual(self.values_of(find)["found"], [False, False])


@unittest.skipUnless(_PYTHON and os.geteuid() == 0, "needs root and a Python that everybody may run")
class OfManyUsers(Escapes, unittest.TestCase):
    pass


@unittest.skipUnless(_PYTHON and one_user_may_build_walls(), "needs a system that lets ordinary users make namespaces")
class OfOneUser(Escapes, unittest.TestCase):
    how = ONE_USER


if __name__ == "__main__":
    unittest.main()
