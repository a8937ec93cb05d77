"""Tests the measurement of a node's memory. The tests use a lower limit, to spare the machine."""

import os
import sys
import unittest

from support import ONE_USER, Sandbox, a_python_for_everybody, one_user_may_build_walls

_PYTHON = a_python_for_everybody() if sys.platform == "linux" else None

_MB = 1 << 20
_LIMIT_MB = 256
_LOWER = f"from nova_harness import memory; memory.LIMIT_BYTES = {_LIMIT_MB * _MB}"
_TOO_MUCH = "^the code has more than 2 GiB of memory"


class Counted:
    how = {}

    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox(python=_PYTHON, **cls.how)
        cls.addClassCleanup(cls.sandbox.close)
        cls.sandbox.kernel().run(_LOWER)

    def assert_too_much(self, code):
        result = self.sandbox.run(f"{code}\nimport time\ntime.sleep(15)")
        self.assertRegex(result.get("message", "it ran to its end"), _TOO_MUCH)
        self.assertEqual(self.sandbox.changes("context['a'] = 1"), {"a": 1})

    def test_shared_memory_counts(self):
        self.assert_too_much(f"import mmap\nm = mmap.mmap(-1, {_LIMIT_MB + 50} << 20)\nm[::4096] = bytes(len(m) // 4096)")

    def test_the_memory_of_all_processes_counts_together(self):
        size = (_LIMIT_MB // 2) * _MB
        self.assert_too_much(f"import os\nfor _ in range(3):\n    if os.fork() == 0: break\ntext = b'x' * {size}")

    def test_files_in_all_folders_in_memory_count_together(self):
        size = (_LIMIT_MB // 2) * _MB
        write = f"open(folder + '/large', 'wb').write(bytes({size}))"
        self.assert_too_much(f"for folder in ('/tmp', '/var/tmp', '/dev/shm'): {write}")

    def test_memory_that_several_processes_share_counts_once(self):
        code = f"""
import mmap, os, time
shared = mmap.mmap(-1, {_LIMIT_MB // 2} << 20)
shared[::4096] = bytes(len(shared) // 4096)
with open("/dev/shm/large", "wb") as file:
    file.write(bytes({_LIMIT_MB // 4} << 20))
with open("/dev/shm/large", "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
total = 0
for _ in range(3):
    if os.fork() == 0:
        for page in range(0, len(shared), 4096): total += shared[page]
        for page in range(0, len(mapped), 4096): total += mapped[page]
        time.sleep(0.5)
        os._exit(0)
for _ in range(3): os.wait()
context["a"] = total
"""
        self.assertEqual(self.sandbox.changes(code), {"a": 0})

    def test_files_in_memory_are_deleted_at_the_end_of_the_node(self):
        self.sandbox.run(f"open('/dev/shm/large', 'wb').write(bytes({_LIMIT_MB // 2} << 20))")
        left = "import os; found = os.statvfs('/dev/shm'); context['used'] = found.f_blocks - found.f_bfree"
        self.assertEqual(self.sandbox.changes(left), {"used": 0})


@unittest.skipUnless(_PYTHON and os.geteuid() == 0, "needs root and a Python that everybody may run")
class OfManyUsers(Counted, unittest.TestCase):
    pass


@unittest.skipUnless(_PYTHON and one_user_may_build_walls(), "needs a system that lets ordinary users make namespaces")
class OfOneUser(Counted, unittest.TestCase):
    how = ONE_USER


if __name__ == "__main__":
    unittest.main()
