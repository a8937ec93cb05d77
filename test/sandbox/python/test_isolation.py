"""Tests which files and processes a node's code can reach, with isolation and without it."""

import json
import os
import signal
import sys
import time
import unittest

from support import Sandbox, a_python_for_everybody, children_of, marked_processes

_IS_ROOT = sys.platform == "linux" and os.geteuid() == 0
_PYTHON = a_python_for_everybody() if _IS_ROOT else None


# Code that finds the harness's socket among its descriptors and sends a message to the daemon.
_SEND = """
import array, os, socket, stat
for fd in range(3, 30):
    try:
        if not stat.S_ISSOCK(os.fstat(fd).st_mode):
            continue
    except OSError:
        continue
    with socket.socket(fileno=fd) as harness:
        harness.sendall({message!r}.encode() + b"\\n")
        data, control, _, _ = harness.recvmsg(1000, 1000)
        files = array.array("i", control[0][2]) if control else []
        print(data, [os.read(file, 99) for file in files], flush=True)
        os._exit(9)
"""

# Code with so many pages of memory that the system needs a while to free them.
_SLOW_TO_DIE = """
import mmap
pages = mmap.mmap(-1, 400 << 20)
pages.madvise(mmap.MADV_NOHUGEPAGE)
pages[::4096] = bytes(len(pages) // 4096)
context["a"] = 1
"""


def _resident_pages(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1])


def _is_dead(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def _user_of(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Uid:"))


@unittest.skipUnless(_IS_ROOT and _PYTHON, "needs root and a Python that everybody may run")
class Walls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox(lib={"tools.py": "x = 1\n"}, python=_PYTHON)

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.close()

    def values_of(self, code):
        return self.sandbox.changes(code)

    def test_code_runs_as_an_unprivileged_user_in_a_home_folder_of_its_own(self):
        code = """
import os, getpass, pathlib
context["who"] = [os.getuid(), os.getgid(), os.getgroups(), getpass.getuser()]
context["home"] = [os.getcwd(), str(pathlib.Path.home()), os.listdir(".")]
open("file", "w").close()
status = dict(line.split(":") for line in open("/proc/self/status"))
context["privileges"] = [status[name].strip() for name in ("CapEff", "NoNewPrivs")]
"""
        found = self.values_of(code)
        self.assertEqual(found["who"], [65534, 65534, [], "node"])
        self.assertEqual(found["home"], ["/home/node", "/home/node", []])
        self.assertEqual(found["privileges"], ["0000000000000000", "1"])

    def test_code_cannot_see_other_processes_of_the_machine(self):
        pids = "context['pids'] = [int(name) for name in os.listdir('/proc') if name.isdigit()]"
        found = self.values_of(f"import os; {pids}; context['own'] = os.getpid()")
        self.assertLessEqual(len(found["pids"]), 2)
        self.assertIn(found["own"], found["pids"])

    def test_code_cannot_read_the_files_of_the_harness(self):
        code = f"""
import os
def attempt(action):
    try:
        return repr(action())
    except OSError as error:
        return type(error).__name__
root = {self.sandbox.root!r}
paths = [root, root + "/socket", root + "/claims", "/root", "/proc/1/root" + root, "/proc/1/environ", "/proc/1/fd"]
def look(path):
    return os.listdir(path) if os.path.isdir(path) else open(path).read()
context["found"] = {{path: attempt(lambda: look(path)) for path in paths}}
context["up"] = [attempt(lambda: os.listdir(os.open("..", os.O_RDONLY, dir_fd=fd))) for fd in range(3, 20)]
context["kill"] = attempt(lambda: os.kill(1, 9))
"""
        found = self.values_of(code)
        allowed = ("FileNotFoundError", "PermissionError", "NotADirectoryError", "[]")
        self.assertEqual({path: seen for path, seen in found["found"].items() if seen not in allowed}, {})
        self.assertEqual([seen for seen in found["up"] if "outcome" in seen or "claims" in seen], [])

    def test_code_that_sends_forged_messages_to_the_daemon_fails_and_reads_no_secret(self):
        secret = f"{self.sandbox.root}/inputs/secret"
        with open(secret, "w") as file:
            file.write("secret")
        for message in (
            {"need": {"blob": {"sha256": "../inputs/secret", "bytes": 6, "type": "text"}}},
            {"need": {"type": "result", "outputs": 1}},
            {"need": []},
            {"damaged": "../inputs/secret"},
            [1],
            "x" * 2_000_000,
        ):
            with self.subTest(str(message)[:60]):
                result = self.sandbox.run(_SEND.format(message=json.dumps(message)))
                self.assertNotIn("secret", str(result))
                self.assertEqual(result["status"], "error")
                self.assertTrue(os.path.exists(secret))
        os.unlink(secret)

    def test_code_that_deletes_all_files_that_it_can_delete_does_not_harm_the_next_node(self):
        code = """
import os, shutil
if os.getcwd() != "/home/node":
    raise SystemExit("there are no walls here")
for folder in ("/tmp", "/home", "/root", "/etc", "/var/tmp"):
    shutil.rmtree(folder, ignore_errors=True)
context["a"] = b"still here"
"""
        self.assertEqual(self.values_of(code), {"a": b"still here"})
        self.assertEqual(self.values_of("import tools; context['x'] = tools.x"), {"x": 1})

    def test_a_node_does_not_find_files_of_an_earlier_node(self):
        write = "import os\nfor d in ('/tmp', '/var/tmp', '/dev/shm', '.'): open(d + '/left', 'w').write('x')"
        self.values_of(write)
        found = self.values_of(
            "import os; context['left'] = [d for d in ('/tmp', '/var/tmp', '/dev/shm', '.') if 'left' in os.listdir(d)]"
        )
        self.assertEqual(found["left"], [])

    def test_code_can_import_the_modules_of_the_workflow_but_cannot_change_them(self):
        code = """
import tools
context["x"] = tools.x
try:
    open(tools.__file__, "a")
except OSError as error:
    context["error"] = type(error).__name__
"""
        self.assertEqual(self.values_of(code), {"x": 1, "error": "PermissionError"})

    def test_code_can_start_only_a_limited_number_of_processes(self):
        code = """
import subprocess
started = []
try:
    while len(started) < 300:
        started.append(subprocess.Popen(["sleep", "9"]))
except OSError:
    context["n"] = len(started)
"""
        self.assertLess(self.values_of(code)["n"], 128)

    def test_subprocesses_find_the_programs_of_the_system(self):
        self.assertEqual(
            self.values_of("import subprocess; context['a'] = subprocess.check_output(['echo', 'x'], text=True)"),
            {"a": "x\n"},
        )

    def test_a_node_starts_after_the_last_process_of_the_earlier_node_has_ended(self):
        large, need = self.begin_and_wait(_SLOW_TO_DIE, b"1" * 9)
        process = max((pid for init in self.sandbox.inits() for pid in children_of(init)), key=_resident_pages)
        self.assertGreater(_resident_pages(process), 100_000)
        self.sandbox.serve(need)
        self.assertEqual(self.sandbox.finish(large)["result"]["status"], "success")
        following, need = self.begin_and_wait("", b"2" * 9)
        was_alive = os.path.exists(f"/proc/{process}")
        self.sandbox.serve(need)
        self.assertEqual(self.sandbox.finish(following)["result"]["status"], "success")
        self.assertFalse(was_alive)

    def test_spare_processes_that_die_are_replaced(self):
        for _ in range(3):
            self.assertEqual(self.values_of("context['a'] = 1"), {"a": 1})
            inits = self.sandbox.inits()
            for init in inits:
                os.kill(init, signal.SIGKILL)
            while not all(map(_is_dead, inits)):
                time.sleep(0.01)

    def test_code_does_not_see_how_its_process_was_prepared(self):
        code = """
import linecache, sys
context["names"] = sorted(globals())
context["rest"] = [sys.argv, list(linecache.cache), sys.getrecursionlimit()]
"""
        names = ["__builtins__", "__doc__", "__file__", "__loader__", "__name__", "__package__", "__spec__"]
        names += ["base64", "context", "json", "linecache", "outputs", "sys", "tasks"]
        rest = [["nodes/some.py"], ["nodes/some.py"], sys.getrecursionlimit()]
        self.assertEqual(self.values_of(code), {"names": names, "rest": rest})

    def test_code_cannot_prevent_the_crash_tracebacks_of_later_code(self):
        sandbox = Sandbox(python=sys.executable)  # If other users cannot run this Python, the code runs as root.
        self.addCleanup(sandbox.close)
        crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
        meddle = "import os, signal\ntry:\n    os.kill(1, signal.SIGSEGV)\nexcept PermissionError:\n    pass\n"
        for code in (meddle, meddle, crash, crash):
            answer = sandbox.finish(sandbox.begin(code))
            self.assertEqual("Fatal Python error" in answer["logs"], code is crash, answer)

    def test_a_node_cannot_inspect_a_waiting_spare_process(self):
        # This code may reach no host, but the first spare process is for code with the usual network.
        begun, need = self.begin_and_wait("", b"3" * 9, allow=[])
        both = [pid for init in self.sandbox.inits() for pid in children_of(init)]
        self.assertEqual(len(both), 2)
        while any(_user_of(pid) == 0 for pid in both):
            time.sleep(0.01)  # The spare process is not isolated yet.
        owners = [os.stat(f"/proc/{pid}/environ").st_uid for pid in both]
        self.sandbox.serve(need)
        self.assertEqual(self.sandbox.finish(begun)["result"]["status"], "success")
        self.assertEqual(sorted(owners), [0, 65534])

    def begin_and_wait(self, code, value, **options):
        begun = self.sandbox.begin(f"{code}\ncontext['x']", {"x": self.sandbox.keep(value, "bytes")}, **options)
        return begun, next(self.sandbox.answers(*begun))

    def test_detached_processes_of_a_node_are_dead_when_the_next_node_starts(self):
        leave = """
import os, subprocess
unheard = dict(start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
for _ in range(5):
    subprocess.Popen(["sh", "-c", "sleep 98 & sleep 99"], **unheard)
os.close(1)
os.close(2)
"""
        pids = "import os; context['pids'] = [int(name) for name in os.listdir('/proc') if name.isdigit()]"
        for end in ("context['a'] = 1", "os._exit(3)", "os.kill(os.getpid(), 9)"):
            with self.subTest(end):
                self.sandbox.run(leave + end, environment={"MARK": self.sandbox.root})
                self.assertLessEqual(len(self.values_of(pids)["pids"]), 2)
                self.assertEqual(marked_processes(self.sandbox.root), [])

    def test_later_nodes_run_after_all_processes_of_a_node_were_killed_at_once(self):
        for code, limit in (("while True: pass", 0.2), (_SEND.format(message="[1]"), 9)):
            self.assertEqual(self.sandbox.run(code, timeout=limit)["status"], "error")
            self.assertEqual([self.values_of("context['a'] = 1") for _ in range(2)], [{"a": 1}] * 2)

    def test_a_request_that_arrives_while_the_code_is_dying_gets_the_result_of_the_code(self):
        for ask in (lambda link: self.sandbox.finish(self.sandbox.begin("", link=link)), self.sandbox.stop):
            link = f"dying-{ask}"
            first = self.sandbox.finish(self.sandbox.begin(_SLOW_TO_DIE, link=link))
            self.assertEqual(first["result"]["set"], [["a", "1"]])
            self.assertEqual(ask(link), first)


@unittest.skipUnless(
    _IS_ROOT and _PYTHON, "needs root, to start somebody who is not, and a Python that everybody may run"
)
class WithoutPrivileges(unittest.TestCase):
    """A laptop without bubblewrap has the same claims and results, and separate process groups, but no isolation."""

    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox(lib={"tools.py": "x = 1\n"}, python=_PYTHON, user=65534, group=65534, extra_groups=[])

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.close()

    def test_code_runs_and_its_changes_are_in_the_result(self):
        code = "import tools, os; context['a'] += tools.x; context['b'] = [os.getuid(), b'bytes']; print('log')"
        result = self.sandbox.run(code, {"a": "1"})
        self.assertEqual(result["logs"], "log\n")
        values = {key: self.sandbox.value(result, json.loads(text)) for key, text in result["set"]}
        self.assertEqual(values, {"a": 2, "b": [65534, b"bytes"]})

    def test_a_timeout_ends_the_code_and_the_processes_that_the_code_has_started(self):
        code = "import subprocess; subprocess.Popen(['sleep', '99'], start_new_session=True)\nwhile True: pass"
        result = self.sandbox.run(code, timeout=0.3, environment={"MARK": self.sandbox.root})
        self.assertEqual(result["class"], "NodeTimeout")
        self.assertEqual(marked_processes(self.sandbox.root), [])

    def test_processes_that_the_code_has_started_end_with_the_code(self):
        code = "import subprocess; subprocess.Popen(['sleep', '99'], start_new_session=True)\ncontext['a'] = 1"
        self.assertEqual(self.sandbox.run(code, environment={"MARK": self.sandbox.root})["set"], [["a", "1"]])
        self.assertEqual(marked_processes(self.sandbox.root), [])

    def test_the_error_message_distinguishes_a_crash_from_an_exit(self):
        for code, message in (
            ("import os; os._exit(2)", "exit status 2"),
            ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ):
            self.assertIn(message, self.sandbox.run(code)["message"])

    def test_a_fork_bomb_ends_with_a_timeout(self):
        code = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError: pass"
        self.assertEqual(self.sandbox.run(code, timeout=0.5)["class"], "NodeTimeout")
        self.assertEqual(self.sandbox.changes("context['a'] = 1"), {"a": 1})

    def test_a_stop_returns_after_the_code_is_dead(self):
        text = self.sandbox.keep(b"1" * 9, "bytes")
        begun = self.sandbox.begin("context['x']", {"x": text}, link="l")
        next(self.sandbox.answers(*begun))
        self.assertEqual(self.sandbox.stop("l")["type"], "stopped")
        self.assertEqual(self.sandbox.finish(begun, serve=False)["type"], "tombstoned")


if __name__ == "__main__":
    unittest.main()
