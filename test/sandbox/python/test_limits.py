"""Tests code that sends arbitrary data to its harness: it ends in time, fails with one sentence, and does not affect
the next node.
"""

import os
import sys
import textwrap
import unittest
from unittest import mock

from support import HARNESS, Sandbox

sys.path.insert(0, HARNESS)

from nova_harness import outcomes  # noqa: E402
from nova_harness.run import LOG_BYTES, Claim, Run  # noqa: E402
from nova_harness.store import Store  # noqa: E402

_CHANNEL = """
import json, os, stat
channel = outputs._supply._control
def say(data):
    try: channel.sendall(data)
    except OSError: pass
out = next(fd for fd in map(int, os.listdir('/proc/self/fd')) if fd > 2 and stat.S_ISDIR(os.stat(fd).st_mode))
def leave(name, data):
    with open(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=out), 'wb') as file: file.write(data)
def end(data):
    leave('result', data)
    say(b'{"complete": true}\\n')
    while True: pass
"""
_MEDDLED = "the code meddled with the harness around it"

MEDDLING = {
    "needs without waiting for an answer": """while True: say(b'{"need": {"outputs": "x"}}\\n')""",
    "needs of other things each time": """
        n = 0
        while True:
            n += 1
            say(json.dumps({"need": {"outputs": str(n)}}).encode() + b'\\n')""",
    "a need that there is not": """say(b'{"need": {"file": "/etc/passwd"}}\\n')\nwhile True: pass""",
    "a message that does not parse": "say(b'{\\n')\nwhile True: pass",
    "a message of another kind": "say(b'[1]\\n')\nwhile True: pass",
    "a message of 100,000 levels": "say(b'[' * 100_000 + b'\\n')\nwhile True: pass",
    "a message without end": "while True: say(b'x' * 65536)",
    "values damaged that it was not given": """while True: say(b'{"damaged": "%s"}\\n' % (b'0' * 64))""",
    "a result of 100,000 levels": "end(b'[' * 100_000)",
    "half a result": """end(b'{"status": "success", "set": [["a"')""",
    "a result that is no text": "end(b'\\xff\\xfe')",
    "a result that is a folder": "os.mkdir('result', dir_fd=out)\nsay(b'{\"complete\": true}\\n')\nwhile True: pass",
}


class Meddling(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox()

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.close()

    def test_code_that_sends_invalid_messages_to_the_harness_fails_and_the_next_node_runs(self):
        for name, code in MEDDLING.items():
            with self.subTest(name):
                result = self.sandbox.run(_CHANNEL + textwrap.dedent(code), timeout=15)
                self.assertEqual((result["status"], result["class"]), ("error", "NodeFailed"), result)
                self.assertIn(_MEDDLED, result["message"])
                self.assertEqual(self.sandbox.changes("context['a'] = 1"), {"a": 1})

    def test_a_result_that_is_too_large_fails_the_node_with_one_sentence(self):
        result = self.sandbox.run(_CHANNEL + "end(b' ' * 60_000_001)")
        self.assertEqual(result["message"], outcomes.too_large()["result"]["message"])

    def test_a_result_file_of_10_gb_is_reported_as_too_large(self):
        code = """
        import threading
        def grow():
            while True: leave('result', b'x' * (1 << 20))
        with open(os.open('result', os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600, dir_fd=out), 'ab', 0) as file:
            file.truncate(10 << 30)
        say(b'{"complete": true}\\n')
        while True: pass
        """
        result = self.sandbox.run(_CHANNEL + textwrap.dedent(code))
        self.assertEqual(result["message"], outcomes.too_large()["result"]["message"])

    def test_thousands_of_other_files_do_not_remove_values_from_the_result(self):
        code = "for n in range(5_000): leave(f'{n:064x}', b'x')\nfor n in range(5_000): leave(f'other {n}', b'x')\n"
        self.assertEqual(self.sandbox.changes(_CHANNEL + code + "context['a'] = b'1' * 9000"), {"a": b"1" * 9000})
        self.assertEqual(self.sandbox.changes("context['a'] = 1"), {"a": 1})

    def test_code_that_closes_its_connection_to_the_harness_fails(self):
        result = self.sandbox.run(_CHANNEL + "channel.close()\ncontext['a'] = 1")
        self.assertEqual((result["status"], result["class"]), ("error", "NodeFailed"), result)


class Process:
    """A fake of the code's process for a run."""

    relay = None

    def __init__(self):
        self.told, self.killed = [], 0

    def tell(self, message, files=()):
        self.told.append(message)

    def kill(self):
        self.killed += 1


class Time(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox()
        self.addCleanup(self.sandbox.close)
        self.now = 1000.0
        clock = mock.patch("time.monotonic", lambda: self.now)
        clock.start()
        self.addCleanup(clock.stop)
        self.store = Store(self.sandbox.root)
        self.run = None

    def begin(self, seconds=60):
        self.run = Run(Claim("link", 0, 1), Process(), self.store, seconds, is_fit=True, is_last=False)
        return self.run

    def left(self):
        return self.run.seconds_left(self.now)

    def answer(self, need):
        with open(os.path.join(self.sandbox.root, need["put"]), "w") as file:
            file.write('{"value": null}\n')

    def ask(self, name="x"):
        asked = []
        self.run.needs._announce = asked.append
        self.run._obey({"need": {"outputs": name}})
        return asked[-1]

    def test_a_wait_of_up_to_a_minute_does_not_count_towards_the_timeout(self):
        self.begin()
        need = self.ask()
        self.now += 50
        self.assertEqual(self.left(), 60)
        self.answer(need)
        self.run.look()
        self.assertEqual(self.left(), 60)

    def test_code_that_gets_no_answer_ends_a_minute_after_its_timeout(self):
        self.begin()
        self.ask()
        self.now += 119
        self.assertEqual(self.left(), 1)
        self.now += 1
        self.assertEqual(self.left(), 0)

    def test_only_one_minute_of_all_waits_together_does_not_count_towards_the_timeout(self):
        self.begin()
        for n in range(1000):
            need = self.ask(f"node {n}")
            self.now += 0.119
            self.answer(need)
            self.run.look()
        self.assertAlmostEqual(self.left(), 1, 3)

    def test_a_clock_that_stands_still_does_not_change_the_time_left(self):
        self.begin()
        self.ask()
        self.assertEqual(self.left(), 60)

    def test_a_full_disk_turns_a_large_result_into_a_short_error(self):
        run = self.begin()
        told = []
        run._tell = told.append
        run.log += b"x" * LOG_BYTES
        self.store.keep_outcome = mock.Mock(side_effect=OSError("disk full"))
        run._conclude({"type": "result", "result": {"status": "success", "set": [["a", "x" * 300_000]]}})
        self.assertEqual((told[0]["result"]["status"], len(str(told[0])) < 1000), ("error", True))
        self.assertIn("disk is full", told[0]["result"]["message"])


if __name__ == "__main__":
    unittest.main()
