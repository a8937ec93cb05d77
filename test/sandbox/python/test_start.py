"""Tests the start of a sandbox's daemon."""

import os
import subprocess
import sys
import unittest

from support import HARNESS, Sandbox

_WARM = os.path.join(os.path.dirname(HARNESS), "template", "warm.py")


_NO_NAMESPACES = """
import errno, os
from nova_harness import jail, linux
def fork(walls):
    if walls.isolated:
        raise linux.CallFailed(errno.EPERM, "clone")
    return os.fork()
jail.Jail.fork = fork
"""


class Start(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox()
        self.kernel = self.sandbox.kernel()

    def tearDown(self):
        self.sandbox.close()

    def command_of_daemon(self):
        with open(f"/proc/{self.sandbox.daemon_pid()}/cmdline") as line:
            return line.read()

    def assert_works(self):
        self.assertEqual(self.sandbox.changes("context['a'] = 1"), {"a": 1})
        self.assertEqual(self.sandbox.changes("context['b'] = 2"), {"b": 2})

    @unittest.skipUnless(sys.platform == "linux", "reads /proc")
    def test_a_kernel_with_one_thread_forks_the_daemon(self):
        self.kernel.run("import sys; sys.modules['only_here'] = sys")
        self.assert_works()
        self.assertEqual(self.sandbox.changes("import only_here; context['v'] = only_here.version_info[0]"), {"v": 3})
        self.assertNotIn("nova_harness.daemon", self.command_of_daemon())

    @unittest.skipUnless(sys.platform == "linux", "reads /proc")
    def test_a_kernel_with_several_threads_starts_the_daemon_as_a_separate_program(self):
        self.kernel.run("import threading, time; threading.Thread(target=time.sleep, args=[999], daemon=True).start()")
        self.assert_works()
        self.assertIn("nova_harness.daemon", self.command_of_daemon())

    def test_the_warm_process_of_the_template_becomes_the_daemon(self):
        path = f"{self.sandbox.root}/warm.sock"
        folder = os.path.dirname(_WARM)
        code = (
            f"import sys; sys.path.insert(0, {folder!r}); import warm; warm.main({path!r}, ['csv', 'no_such_module'])"
        )
        warm = subprocess.Popen(
            [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env={**os.environ, "MADE": "warm"}
        )
        self.assertIn("no_such_module cannot be imported", warm.stderr.readline())
        while not os.path.exists(path):
            os.sched_yield()
        self.kernel.run(f"from nova_harness import cell; cell.WARM = {path!r}")
        self.assertEqual(self.sandbox.changes("import os; context['made'] = os.environ['MADE']"), {"made": "warm"})
        self.assertEqual(self.sandbox.daemon_pid(), warm.pid)
        self.assert_works()
        warm.kill()
        warm.wait()
        warm.stderr.close()

    def test_a_harness_that_was_imported_in_advance_serves_the_sandbox(self):
        self.kernel.run(f"import sys; sys.path.insert(0, {HARNESS!r}); import nova_harness.daemon; del sys.path[0]")
        self.assert_works()
        self.assertEqual(self.kernel.run("print(nova_harness.__file__)"), [f"{HARNESS}/nova_harness/__init__.py"])
        result = self.sandbox.run("context['a'] = json.loads('{')")
        self.assertNotIn("nova_harness", result["traceback"])

    def test_the_kernel_keeps_its_own_output(self):
        self.assert_works()
        self.assertEqual(self.kernel.run("print('still', 'here')"), ["still here"])

    def test_a_daemon_without_namespaces_ends_after_its_folder_disappears(self):
        self.kernel.run(_NO_NAMESPACES)
        self.assert_works()
        pid = self.sandbox.daemon_pid()
        os.rename(self.sandbox.root, self.sandbox.root + "-gone")
        try:
            while os.path.exists(f"/proc/{pid}") and self.state_of(pid) != "Z":
                os.sched_yield()
        finally:
            os.rename(self.sandbox.root + "-gone", self.sandbox.root)

    def state_of(self, pid):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                return stat.read().rpartition(") ")[2][0]
        except FileNotFoundError:
            return "Z"


if __name__ == "__main__":
    unittest.main()
