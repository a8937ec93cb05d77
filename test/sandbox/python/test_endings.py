"""Tests failing code: each kind of failure is reported in one sentence and does not affect the
next node.
"""

import importlib.util
import os
import re
import sys
import textwrap
import time
import unittest

from support import Sandbox, a_python_for_everybody

_HAS_REQUESTS = importlib.util.find_spec("requests") is not None
_CRASH = "import ctypes; print('before', flush=True); ctypes.string_at(0)"

FAILURES = {
    "an exception": ("x = {}\nx['total']", r"^KeyError: 'total'$"),
    "an exception without text": ("raise ValueError", r"^ValueError$"),
    "an exception that cannot be shown": (
        "class E(Exception):\n    def __str__(self): raise KeyError\nraise E",
        r"^E: \(its text cannot be shown: KeyError\)$",
    ),
    "a syntax error": ("x = 1\nif x\n  y", r"^SyntaxError: .*\(some\.py, line 2\)$"),
    "an undefined name": ("total + 1", r"^NameError: name 'total' is not defined$"),
    "an interrupt": ("raise KeyboardInterrupt", r"^KeyboardInterrupt$"),
    "sys.exit with a status": ("import sys; sys.exit(3)", r"sys\.exit\(3\).*use sys\.exit\(0\)"),
    "sys.exit with a text": ("import sys; sys.exit('no invoice')", r"^SystemExit: no invoice$"),
    "os._exit": ("import os; context['a'] = 1; os._exit(1)", r"exit status 1 .*os\._exit\(1\).*sys\.exit\(\)"),
    "os._exit without an error": ("import os; os._exit(0)", r"exit status 0 before its result could be taken"),
    "a crash of the interpreter": (_CRASH, r"crashed the Python interpreter \(SIGSEGV\)"),
    "an abort": ("import os; os.abort()", r"\(SIG(ABRT|SEGV|ILL)\)"),
    "a kill": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", r"was killed, most likely for the memory"),
    "endless recursion": ("def f(): f()\nf()", r"^RecursionError: maximum recursion depth"),
    "deep nesting": ("x = []\nfor _ in range(10_000): x = [x]\ncontext['x'] = x", r"nested more than 500 levels"),
    "a huge message": ("raise ValueError('x' * 10_000_000)", r"^ValueError: x{7988}\[\.\.\.\]$"),
    "half a character in the message": ("raise ValueError('\\ud800')", r"^ValueError: \?$"),
}
if sys.platform == "linux":  # Other systems do not limit the memory of one process.
    FAILURES["30 GB of memory"] = ("x = bytearray(30 << 30)", r"^MemoryError: the code needs more than 2 GiB")
    FAILURES["memory by and by"] = ("x = []\nwhile True: x.append('y' * (10 << 20))", r"^MemoryError: ")

FINE = {
    "sys.exit()": "import sys; context['a'] = 1; sys.exit()",
    "sys.exit(0)": "import sys; context['a'] = 1; sys.exit(0)",
    "quit()": "context['a'] = 1; raise SystemExit",
    "closing stdout": "import sys; sys.stdout.close(); context['a'] = 1",
    "closing the descriptors of stdout and stderr": "import os; os.close(1); os.close(2); context['a'] = 1",
    "replacing stdout": "import io, sys; sys.stdout = io.StringIO(); print('x'); context['a'] = 1",
    "breaking json": "json.dumps = json.loads = None; context['a'] = 1",
    "breaking builtins": "import builtins; context['a'] = 1; builtins.open = builtins.len = None",
    "children left running": "import subprocess; subprocess.Popen(['sleep', '99']); context['a'] = 1",
    "children that hide": "import os\nif os.fork() == 0:\n    os.setsid()\n    while True: pass\ncontext['a'] = 1",
    "a daemon thread": "import threading as t; t.Thread(target=t.Event().wait, daemon=True).start(); context['a'] = 1",
    "a lower recursion limit": "import sys; sys.setrecursionlimit(60); context['a'] = 1",
}


class Endings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox(lib={"tools.py": "def fail():\n    raise ValueError('in the module')\n"})

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.close()

    def test_each_failure_is_reported_in_one_sentence(self):
        for name, (code, pattern) in FAILURES.items():
            with self.subTest(name):
                result = self.sandbox.run(code)
                self.assertEqual((result["status"], result["class"]), ("error", "NodeFailed"), result)
                self.assertRegex(result["message"], pattern)
                self.assertNotIn("nova_harness", result["message"] + result["traceback"])

    def test_unusual_code_without_an_error_succeeds(self):
        for name, code in FINE.items():
            with self.subTest(name):
                result = self.sandbox.run(code)
                self.assertEqual((result["status"], result.get("set")), ("success", [["a", "1"]]), result)

    def test_code_that_prints_and_changes_nothing_succeeds_without_changes(self):
        result = self.sandbox.run("pass")
        self.assertEqual((result["status"], result["set"], result["delete"], result["logs"]), ("success", [], [], ""))

    def test_the_result_lists_all_classes_of_an_exception(self):
        result = self.sandbox.run("import json\nclass Odd(json.JSONDecodeError): pass\nraise Odd('no', '', 0)")
        derived = ["json.decoder.JSONDecodeError", "ValueError", "Exception", "BaseException"]
        self.assertEqual(result["types"], ["__main__.Odd", *derived])
        self.assertNotIn("types", self.sandbox.run("print(json.dumps({'status': 'error', 'message': 'no'}))"))

    def test_the_result_lists_the_base_classes_of_an_exception_that_hides_its_own_class(self):
        code = """
        class Shy(type):
            __module__ = property(lambda kind: 1 / 0)
            __mro__ = ()
        class Long(Exception, metaclass=Shy): pass
        Long.__qualname__ = "x" * 10_000
        raise Long()
        """
        result = self.sandbox.run(textwrap.dedent(code))
        self.assertEqual(result["types"][1:], ["Exception", "BaseException"])
        self.assertLessEqual(len(result["types"][0]), 300)

    def test_the_result_has_the_status_of_the_http_response_in_an_exception(self):
        made = "import types\nclass E(Exception): pass\ne = E('x')\n"
        for code, status in [
            ("import urllib.error; raise urllib.error.HTTPError('http://x/503', 404, 'Not Found', {}, None)", 404),
            ("import requests; r = requests.Response(); r.status_code = 503; r.raise_for_status()", 503),
            (made + "e.response = types.SimpleNamespace(status_code=429); raise e", 429),
            (made + "e.response = {'ResponseMetadata': {'HTTPStatusCode': 500}}; raise e", 500),
            (made + "e.status = 502; raise e", 502),
            (made + "e.status = 7; e.code = '503'; e.response = {}; raise e", None),
            (made + "e.response = {'ResponseMetadata': 3}; raise e", None),
            ("raise ValueError(503)", None),
        ]:
            with self.subTest(code):
                if "import requests" in code and not _HAS_REQUESTS:
                    self.skipTest("requests is not installed")
                self.assertEqual(self.sandbox.run(code).get("httpStatus"), status)

    def test_the_result_has_the_retry_after_header_of_the_http_response_in_an_exception(self):
        made = "import types\nclass E(Exception): status = 503\ne = E('x')\n"
        for code, after in [
            ("import urllib.error; raise urllib.error.HTTPError('http://x', 429, '', {'Retry-After': '7'}, None)", "7"),
            (
                "import requests; r = requests.Response(); r.status_code = 503; r.headers['retry-after'] = '9'\n"
                "r.raise_for_status()",
                "9",
            ),
            (made + "e.response = types.SimpleNamespace(status_code=429, headers={'Retry-After': 'x' * 999}); raise e", "x" * 100),
            (made + "e.headers = {'Retry-After': 7}; raise e", None),
            (made + "raise e", None),
        ]:
            with self.subTest(code):
                if "import requests" in code and not _HAS_REQUESTS:
                    self.skipTest("requests is not installed")
                self.assertEqual(self.sandbox.run(code).get("retryAfter"), after)

    def test_the_traceback_shows_only_the_code_and_its_modules(self):
        code = """
        from tools import fail
        try:
            context["pdf"]
        except KeyError:
            fail()
        """
        result = self.sandbox.run(textwrap.dedent(code))
        lines = re.findall(r'File "([^"]+)", line (\d+), in (\S+)\n +(\S.*)', result["traceback"])
        shown = [(path.rpartition("/")[2], line, name, source) for path, line, name, source in lines]
        module = "<module>"
        self.assertEqual(
            shown,
            [
                ("some.py", "4", module, 'context["pdf"]'),
                ("some.py", "6", module, "fail()"),
                ("tools.py", "2", "fail", "raise ValueError('in the module')"),
            ],
        )
        self.assertIn("During handling of the above exception", result["traceback"])

    def test_the_log_keeps_the_output_before_a_crash(self):
        self.assertTrue(self.sandbox.run(_CRASH)["logs"].startswith("before\n"))

    def test_the_log_keeps_every_character_of_the_output_before_a_kill(self):
        says = {
            "one\ntwo": "print('one'); print('two', end='')",
            "\rhalf done": "import sys; sys.stderr.write('\\rhalf done')",
            "of a child\n": "import subprocess, sys; "
            "subprocess.Popen(['python3', '-c', 'print(\"of a child\"); import time; time.sleep(99)'])",
        }
        for logs, code in says.items():
            with self.subTest(code):
                result = self.sandbox.run(f"{code}\nimport time; time.sleep(99)", timeout=1.5)
                self.assertEqual((result["class"], result["logs"]), ("NodeTimeout", logs))

    def test_an_endless_loop_ends_with_a_timeout(self):
        for code in (
            "while True: pass",
            "import time\nprint('x')\ntime.sleep(99)",
            "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
        ):
            with self.subTest(code):
                result = self.sandbox.run(code, timeout=0.3)
                self.assertEqual((result["status"], result["class"]), ("error", "NodeTimeout"))
                self.assertEqual(
                    result["message"],
                    'ran longer than 0.3 s - raise "timeout" (at most 86400, of a prompt node 600) '
                    "or make the code faster",
                )

    def test_a_wait_for_a_value_does_not_count_towards_the_timeout(self):
        text = self.sandbox.keep(b"late" * 9, "bytes")
        begun = self.sandbox.begin("import time; context['n'] = len(context['x'])", {"x": text}, timeout=0.5)
        for answer in self.sandbox.answers(*begun):
            if answer["type"] == "need":
                started = time.monotonic()
                while time.monotonic() < started + 0.8:  # The time limit of the code is shorter than this wait.
                    pass
                self.sandbox.serve(answer)
            else:
                result = answer["result"]
        self.assertEqual((result["status"], result.get("set")), ("success", [["n", "36"]]), result)

    def test_a_fork_bomb_ends_with_a_timeout(self):
        code = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError: pass"
        python = a_python_for_everybody() if os.geteuid() == 0 else sys.executable
        if python is None:  # The code would run as root, and the system does not count the processes of root.
            self.skipTest("there is no Python that another user may run")
        sandbox = Sandbox(python=python)
        self.addCleanup(sandbox.close)
        result = sandbox.run(code, timeout=0.5)
        self.assertEqual(result["class"], "NodeTimeout", result)
        self.assertEqual(sandbox.changes("context['a'] = 1"), {"a": 1})

    def test_the_log_has_only_the_last_64_kb_of_200_mb_of_output(self):
        code = "line = 'x' * 999\nfor _ in range(200_000): print(line)\nprint('the end')\ncontext['a'] = 1"
        result = self.sandbox.run(code)
        self.assertEqual(result["set"], [["a", "1"]])
        self.assertTrue(result["logs"].endswith("x\nthe end\n"))
        note, kept = result["logs"].split("\n[...]")
        lines = kept.split("\n")[:-2]
        self.assertLessEqual(len("\n".join(lines)), 65536)
        self.assertGreater(len("\n".join(lines)), 60_000)
        self.assertEqual(set(lines), {"x" * 999})
        printed = len(lines) + int(re.fullmatch(r"\(the first ([\d,]+) lines were not kept\)", note)[1].replace(",", ""))
        self.assertEqual(printed, 200_000)

    def test_a_shortened_log_does_not_start_inside_a_character(self):
        logs = self.sandbox.run("print('x' + 'é' * 200_000, end='')")["logs"]
        note, rest = logs.split("\n[...]")
        self.assertEqual((note, set(rest)), ("(the start was not kept)", {"é"}))

    def test_the_harness_marks_each_cut_in_a_shortened_text(self):
        code = "def f(n): return f(n - 1) if n else {}['s' * 9000]\n" + "raise ValueError('y' * 100_000)"
        result = self.sandbox.run(code)
        self.assertRegex(result["message"], r"y\[\.\.\.\]$")
        self.assertRegex(result["traceback"], r"y\[\.\.\.\]y")
        self.assertIn("k[...]", self.sandbox.run("context['a'] = {('k' * 200,): 1}")["message"])
        self.assertIn("k[...]k", self.sandbox.run("context['k' * 300] = {1}")["message"])

    def test_the_log_has_stdout_and_stderr_in_the_order_of_the_output(self):
        code = """
        import os, sys
        print("one")
        print("two", file=sys.stderr)
        os.system("echo three")
        sys.stdout.write("f\\udcffour")
        """
        self.assertEqual(self.sandbox.run(textwrap.dedent(code))["logs"], "one\ntwo\nthree\nf\\udcffour")


if __name__ == "__main__":
    unittest.main()
