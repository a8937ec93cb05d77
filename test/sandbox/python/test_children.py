"""Tests that child processes of the code work as in a script, and that only the code's own process has the result.
"""

import os
import sys
import textwrap
import unittest

from networks import needs_walls
from support import ONE_USER, Sandbox, a_python_for_everybody, one_user_may_build_walls

_IS_ROOT = sys.platform == "linux" and os.geteuid() == 0
_PYTHON = a_python_for_everybody() if _IS_ROOT else sys.executable

_ENDS = {
    "fails": "raise ValueError('in the child')",
    "fails before its parent ends": "os.kill(os.getppid(), 0); {}['x']",
    "exits": "sys.exit(0)",
    "exits with a status": "sys.exit(3)",
    "exits with a text": "sys.exit('no more')",
    "exits at once": "os._exit(7)",
    "runs to its end": "pass",
    "sets the context": "context['a'] = 'child'",
    "prints a result": "print(json.dumps({'status': 'success', 'context_updates': {'a': 'child'}}))",
    "prints an error": "print(json.dumps({'status': 'error', 'message': 'child'}))",
    "is interrupted": "raise KeyboardInterrupt",
    "fails in a handler": "import atexit; atexit.register(lambda: 1 / 0)",
    "has threads": "import threading; threading.Thread(target=lambda: context.update(a='child')).start()",
    "forks again": "os.fork()",
    "breaks json": "json.dumps = None; sys.stdout = None",
}
_FIRST = "import os, sys\nif (pid := os.fork()) == 0:\n    {}\nelse:\n    os.waitpid(pid, 0); context['a'] = 'parent'"
_LAST = (
    "import os, sys\nread, write = os.pipe()\nif os.fork() == 0:\n    os.close(write); os.read(read, 1); {}\n"
    "else:\n    os.close(read); context['a'] = 'parent'"
)

_STATUSES = """
import atexit, os, sys
def status(end):
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    raise end
context["found"] = []
ends = [SystemExit(), SystemExit(0), SystemExit(3), SystemExit("text"), ValueError()]
for end in ends:
    context["found"].append(status(end))
"""

_POOL = """
import multiprocessing, os
def square(number):
    return number * number, os.getpid(), json.dumps(number)
if __name__ == "__main__":
    methods = multiprocessing.get_context({method!r})
    with methods.Pool(2) as pool:
        found = pool.map(square, context["numbers"])
    context["squares"] = [one for one, _, _ in found]
    context["texts"] = [text for _, _, text in found]
    context["elsewhere"] = os.getpid() not in [pid for _, pid, _ in found]
"""

_EXECUTOR = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from tools import twice
def work(number):
    return twice(number)
if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context({method!r})) as pool:
        context["squares"] = list(pool.map(work, context["numbers"]))
"""

_PROCESS = """
import multiprocessing
class Number:
    def __init__(self, value): self.value = value
def work(number, queue):
    print("in the child")
    queue.put(Number(number.value + 1))
def fail():
    raise ValueError("in the child")
if __name__ == "__main__":
    methods = multiprocessing.get_context({method!r})
    queue = methods.Queue()
    child = methods.Process(target=work, args=(Number(1), queue))
    child.start()
    context["answer"] = queue.get(timeout=20).value
    child.join()
    failing = methods.Process(target=fail)
    failing.start()
    failing.join()
    context["codes"] = [child.exitcode, failing.exitcode]
"""

_METHODS = ("fork", "spawn", "forkserver")


@unittest.skipUnless(_PYTHON, "needs a Python that everybody may run")
class Children(unittest.TestCase):
    how = {} if _IS_ROOT or not one_user_may_build_walls() else ONE_USER

    @classmethod
    def setUpClass(cls):
        lib = {"tools.py": "def twice(number):\n    return 2 * number\n"}
        cls.sandbox = Sandbox(lib=lib, python=_PYTHON, **cls.how)

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.close()

    def test_a_forked_child_does_not_change_the_result_of_its_parent(self):
        for name, end in _ENDS.items():
            for order, code in (("first", _FIRST), ("last", _LAST)):
                with self.subTest(f"{name}, {order}"):
                    self.assertEqual(self.sandbox.changes(code.format(end)), {"a": "parent"})

    def test_a_forked_child_cannot_turn_the_failure_of_its_parent_into_a_success(self):
        code = "import os\nif (pid := os.fork()) == 0:\n    context['a'] = 1\nelse:\n    os.waitpid(pid, 0); {}['x']"
        result = self.sandbox.run(code)
        self.assertEqual((result["status"], result["message"]), ("error", "KeyError: 'x'"))

    def test_a_forked_child_has_the_same_exit_status_as_a_script(self):
        self.assertEqual(self.sandbox.changes(_STATUSES)["found"], [0, 0, 3, 1, 1])

    def test_a_failure_of_a_forked_child_is_in_the_log(self):
        logs = self.sandbox.run(_FIRST.format("raise ValueError('in the child')"))["logs"]
        self.assertIn("ValueError: in the child", logs)
        self.assertNotIn("nova_harness", logs)

    def test_text_that_is_printed_before_a_fork_is_in_the_log_once(self):
        code = "import os, sys\nsys.stdout.write('begun ')\nfor _ in range(60): print('', end='x')\n"
        logs = self.sandbox.run(f"{code}if os.fork() == 0: print('child')\nelse: os.wait()")["logs"]
        self.assertEqual((logs.count("begun"), logs.count("x"), logs.count("child")), (1, 60, 1))

    def test_the_output_of_a_multiprocessing_child_is_in_the_log(self):
        code = (
            "import multiprocessing\n"
            "def say(): print(json.dumps({'status': 'success', 'context_updates': {'a': 'child'}}))\n"
            "child = multiprocessing.get_context('fork').Process(target=say)\nchild.start()\nchild.join()\n"
            "context['a'] = 'parent'"
        )
        result = self.sandbox.run(code)
        self.assertEqual(result["set"], [["a", '"parent"']])
        self.assertIn('"context_updates": {"a": "child"}', result["logs"])

    def test_a_forked_child_runs_its_exit_handlers(self):
        code = "import atexit; atexit.register(print, 'handled')"
        self.assertEqual(self.sandbox.run(_FIRST.format(code))["logs"], "handled\n")

    @needs_walls
    def test_the_code_is_written_to_a_file_only_when_a_process_needs_the_file(self):
        code = (
            "import os\nfrom multiprocessing import process\ncontext['before'] = os.listdir('/home/main')\n"
            "context['after'] = sorted(os.listdir(os.path.join(process.ORIGINAL_DIR, 'nodes')))"
        )
        self.assertEqual(self.sandbox.changes(code), {"before": [], "after": ["some.py", "some.py.code"]})

    def test_pools_work_with_every_start_method(self):
        for method in _METHODS:
            with self.subTest(method):
                found = self.sandbox.changes(_POOL.format(method=method), {"numbers": "[1, 2, 3]"})
                expected = {"squares": [1, 4, 9], "texts": ["1", "2", "3"], "elsewhere": True}
                self.assertEqual(found, expected)

    def test_executors_work_with_every_start_method(self):
        for method in _METHODS:
            with self.subTest(method):
                found = self.sandbox.changes(_EXECUTOR.format(method=method), {"numbers": "[1, 2, 3]"})
                self.assertEqual(found, {"squares": [2, 4, 6]})

    def test_processes_with_queues_work_with_every_start_method(self):
        for method in _METHODS:
            with self.subTest(method):
                result = self.sandbox.run(_PROCESS.format(method=method))
                self.assertEqual(result.get("set"), [["answer", "2"], ["codes", "[0,1]"]], result)
                self.assertIn("in the child\n", result["logs"])
                self.assertIn("ValueError: in the child", result["logs"])
                self.assertNotIn("leaked", result["logs"])

    def test_code_that_its_child_process_cannot_import_fails_with_advice(self):
        starts = {
            "a pool": "with methods.Pool(2) as pool: context['a'] = pool.map(abs, [1])",
            "a process": "methods.Process(target=print).start()\nimport time; time.sleep(15)",
            "the context": "numbers = context['numbers']\nif __name__ == '__main__':\n    methods.Pool(2).map(abs, [1])",
            "an end": "if __name__ == '__main__': methods.Pool(2).map(abs, [1])\nimport sys; sys.exit(0)",
        }
        for method in ("spawn", "forkserver"):
            for name, start in starts.items():
                with self.subTest(f"{method}, {name}"):
                    code = f"import multiprocessing\nmethods = multiprocessing.get_context({method!r})\n{start}"
                    result = self.sandbox.run(code, {"numbers": "[1]"}, timeout=15)
                    self.assertEqual((result["status"], result["class"]), ("error", "NodeFailed"), result)
                    self.assertRegex(result["message"], "cannot import the code, .* below if __name__ == \"__main__\":")

    def test_a_child_process_can_import_code_with_a_docstring_and_future_imports(self):
        start = '"""é — a docstring."""\nfrom __future__ import annotations\n'
        code = start + textwrap.dedent(_POOL.format(method="spawn"))
        self.assertEqual(self.sandbox.changes(code, {"numbers": "[5]"})["squares"], [25])


@unittest.skipUnless(_IS_ROOT and _PYTHON and one_user_may_build_walls(), "needs root and walls of another user")
class ChildrenOfOneUser(Children):
    how = ONE_USER


if __name__ == "__main__":
    unittest.main()
