"""Tests that code starts at most once per claim, for any number of requests, and that stopped
code is dead.
"""

import hashlib
import json
import os
import signal
import time
import unittest

from support import Sandbox, marked_processes, one_marked_process


class Claims(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox()
        self.first = self.sandbox.kernel()
        self.second = self.sandbox.kernel()

    def tearDown(self):
        self.sandbox.close()

    def begin_waiting(self, link="l", **options):
        """Starts code that waits for a blob, so that the test decides when it ends."""
        code = "print('begun', flush=True); context['n'] = len(context['x']); context['once'] = 1"
        context = {"x": self.sandbox.keep(b"x" * 5000, "bytes")}
        return self.sandbox.begin(code, context, kernel=self.first, link=link, **options)

    def need_of(self, begun):
        answers = self.sandbox.answers(*begun)
        need = next(answers)
        self.assertEqual(need["type"], "need")
        return need, answers

    def last_of(self, answers):
        return self.sandbox.whole(list(answers)[-1])

    def test_a_second_delivery_gets_the_requests_and_the_result_of_the_running_code(self):
        begun = self.begin_waiting()
        need, answers = self.need_of(begun)
        second = self.sandbox.begin("context['other'] = 1", kernel=self.second, link="l")
        again, more = self.need_of(second)
        self.assertEqual(again, need)
        self.sandbox.serve(again)
        one, two = self.last_of(answers), self.last_of(more)
        self.assertEqual(one["result"]["set"], [["n", "5000"], ["once", "1"]])
        self.assertEqual(two, one)

    def test_the_output_of_running_code_is_in_a_file_until_the_code_ends(self):
        begun = self.begin_waiting()
        need, answers = self.need_of(begun)
        path = f"{self.sandbox.root}/claims/{hashlib.sha256(b'l').hexdigest()[:40]}/log"
        while not os.path.exists(path):
            time.sleep(0.01)
        with open(path) as file:
            header, tail = json.loads(file.readline()), file.read()
        self.sandbox.serve(need)
        self.last_of(answers)
        self.assertEqual((header, tail), ({"step": 0, "attempt": 1, "size": 6}, "begun\n"))
        self.assertFalse(os.path.exists(path))

    def test_a_late_delivery_gets_the_stored_result(self):
        one = self.sandbox.finish(self.sandbox.begin("import random; context['r'] = random.random()", link="l"))
        two = self.sandbox.finish(self.sandbox.begin("context['r'] = 1", link="l", kernel=self.second))
        self.assertEqual(two, one)

    def test_a_large_result_is_stored_in_a_file(self):
        code = "for n in range(50_000): context[f'k{n}'] = n"
        for kernel in (self.first, self.second):
            answer = list(self.sandbox.answers(*self.sandbox.begin(code, link="l", kernel=kernel)))[-1]
            self.assertEqual(answer["type"], "outcome")
            self.assertEqual(answer["bytes"], os.path.getsize(f"{self.sandbox.root}/{answer['path']}"))
            self.assertEqual(len(self.sandbox.whole(answer)["result"]["set"]), 50_000)

    def test_each_step_and_each_attempt_has_a_claim_of_its_own(self):
        for step, attempt in ((0, 1), (0, 2), (1, 1)):
            result = self.sandbox.run(f"context['a'] = {step * 10 + attempt}", link="l", step=step, attempt=attempt)
            self.assertEqual(result["set"], [["a", str(step * 10 + attempt)]])

    def test_code_continues_after_its_client_disconnects(self):
        begun = self.begin_waiting()
        self.need_of(begun)
        self.first.process.send_signal(signal.SIGINT)
        second = self.sandbox.begin("1 / 0", kernel=self.second, link="l")
        self.assertEqual(self.sandbox.finish(second)["result"]["status"], "success")

    def test_a_stop_kills_the_code_and_prevents_a_later_start(self):
        begun = self.begin_waiting()
        _, answers = self.need_of(begun)
        self.assertEqual(self.sandbox.stop("l", kernel=self.second), {"type": "stopped", "logs": "begun\n"})
        self.assertEqual(self.last_of(answers)["type"], "tombstoned")
        for step in (0, 1):
            again = self.sandbox.begin("context['a'] = 1", kernel=self.second, link="l", step=step)
            self.assertEqual(self.sandbox.finish(again)["type"], "tombstoned")

    def test_a_stop_kills_every_process_that_the_code_has_started(self):
        code = "import subprocess; subprocess.Popen(['sleep', '99'], start_new_session=True); context['x']"
        text = self.sandbox.keep(b"1" * 9, "bytes")
        begun = self.sandbox.begin(
            code, {"x": text}, link="l", kernel=self.first, environment={"MARK": self.sandbox.root}
        )
        self.need_of(begun)
        self.assertEqual(len(one_marked_process(self.sandbox.root)), 1)
        self.sandbox.stop("l", kernel=self.second)
        self.assertEqual(marked_processes(self.sandbox.root), [])

    def test_a_stop_before_the_start_of_code_prevents_this_start(self):
        self.assertEqual(self.sandbox.stop("l"), {"type": "stopped", "logs": ""})
        self.assertEqual(self.sandbox.finish(self.sandbox.begin("1", link="l"))["type"], "tombstoned")
        self.assertEqual(self.sandbox.changes("context['a'] = 1", link="another"), {"a": 1})

    def test_a_stop_after_the_end_of_code_returns_the_result(self):
        for code in ("context['a'] = 1", "1 / 0"):
            one = self.sandbox.finish(self.sandbox.begin(code, link=code))
            self.assertEqual(self.sandbox.stop(code, kernel=self.second), one)

    def test_a_stop_that_names_another_step_kills_the_running_step(self):
        begun = self.begin_waiting(step=1)
        _, answers = self.need_of(begun)
        self.sandbox.run("context['a'] = 1", link="l", step=0, kernel=self.second)
        self.assertEqual(self.sandbox.stop("l", step=2, kernel=self.second)["type"], "stopped")
        self.assertEqual(self.last_of(answers)["type"], "tombstoned")

    def test_a_stop_does_not_affect_the_code_of_other_entries(self):
        begun = self.begin_waiting("other")
        need, answers = self.need_of(begun)
        self.sandbox.stop("l", kernel=self.second)
        self.sandbox.serve(need)
        self.assertEqual(self.last_of(answers)["result"]["status"], "success")

    def test_a_dead_daemon_is_replaced_and_code_that_died_with_the_daemon_is_not_started_again(self):
        kept = self.sandbox.finish(self.sandbox.begin("context['a'] = 1", link="kept"))
        begun = self.begin_waiting()
        _, answers = self.need_of(begun)
        os.kill(self.sandbox.daemon_pid(), signal.SIGKILL)
        self.assertEqual(list(answers), [])
        again = self.sandbox.finish(self.sandbox.begin("context['a'] = 1", link="l", kernel=self.second))
        self.assertEqual((again["result"]["status"], again["result"]["class"]), ("error", "NodeFailed"))
        self.assertIn("lost track of the code", again["result"]["message"])
        self.assertEqual(self.sandbox.finish(self.sandbox.begin("1", link="kept", kernel=self.second)), kept)
        self.assertEqual(self.sandbox.changes("context['b'] = 2"), {"b": 2})

    def test_an_input_file_is_deleted_after_the_harness_has_read_the_file(self):
        self.sandbox.run("context['a'] = 1")
        self.assertEqual(os.listdir(f"{self.sandbox.root}/inputs"), [])

    def test_many_kernels_at_the_same_time_run_the_code_of_a_claim_once(self):
        kernels = [self.first, self.second, *(self.sandbox.kernel() for _ in range(4))]
        begun = [
            self.sandbox.begin("import random; context['r'] = random.random()", link="l", kernel=kernel)
            for kernel in kernels
        ]
        answers = [self.sandbox.finish(each) for each in begun]
        self.assertEqual(len({str(answer) for answer in answers}), 1)


if __name__ == "__main__":
    unittest.main()
