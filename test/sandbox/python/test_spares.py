"""Tests spare processes, which are forked and isolated in advance."""

import sys
import tempfile
import unittest
from unittest.mock import Mock, patch

from support import HARNESS

sys.path.insert(0, HARNESS)
from nova_harness import spares  # noqa: E402


class Walls:
    isolated = True

    def __init__(self, root, user):
        self.root, self.user = root, user


class Made:
    """A fake of a process for spares; `are_ready` lists for each new process whether it becomes isolated."""

    hosts = None
    failure = BlockingIOError()
    are_ready = iter(())
    last = None

    def __init__(self, _zygote, walls, init=None):
        self._is_ready = next(self.are_ready)
        self.init, Made.last = init, self

    def is_alive(self):
        return True

    def is_ready(self):
        return self._is_ready

    def kill_and_read_output(self):
        return "no more processes"


class Spares(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def spares(self, *are_ready, user=65534):
        Made.are_ready = iter((True, *are_ready))
        walls = Walls(self.root, user)
        patched = patch.multiple(spares, Process=Made, _strongest_walls=lambda *_: (walls, Made(None, walls), None))
        patched.start()
        self.addCleanup(patched.stop)
        made = spares.Spares(None, self.root)
        made.take(None)
        return made

    def test_a_spare_process_that_could_not_be_forked_is_replaced(self):
        self.assertTrue(self.spares(False, True).take(None).is_ready())
        with open(f"{self.root}/daemon.log") as log:
            self.assertEqual(log.read(), "no more processes\n")

    def test_from_the_third_run_on_a_second_spare_process_is_ready_while_the_first_is_prepared(self):
        made = self.spares(*[True] * 6)
        for runs in (1, 2):
            made.prepare_ahead()
            self.assertEqual(list(made), [], f"after {runs} runs")
            made.prepare_after(Made.last)
            self.assertEqual(len(list(made)), 1)
            taken = made.take(None)
        made.prepare_ahead()
        (second,) = made
        taken.init = init = Mock()
        made.prepare_after(taken)
        self.assertIs(made.take(None), second)
        self.assertEqual([spare.init for spare in made], [init])

    def test_spare_processes_end_with_the_last_run_and_the_next_execution_starts_with_one(self):
        made = self.spares(*[True] * 6)
        for _ in range(2):
            made.take(None)
        made.prepare_ahead()
        self.assertEqual(len(list(made)), 1)
        made.put_away(Made.last)
        self.assertEqual(list(made), [])
        made.zygote = Mock()
        made.end_all()
        made.take(None)
        made.prepare_ahead()
        self.assertEqual(list(made), [])

    def test_a_dead_spare_process_is_replaced(self):
        made = self.spares(*[True] * 6)
        made.prepare_after(Made.last)
        (dead,) = made
        dead.is_alive = lambda: False
        self.assertIsNot(made.take(None), dead)

    def end_last_run(self, made, **attributes):
        """Ends the last run of an execution. Returns the init of this run, and the init of the process that the next
        run gets."""
        ended = Made.last
        ended.init = init = Mock(**attributes)
        made.put_away(ended)
        self.assertEqual((list(made), ended.init), ([], None))
        return init, made.take(None).init

    def test_no_process_is_forked_after_the_last_run_and_a_further_run_gets_the_renewed_init(self):
        init, following = self.end_last_run(self.spares(True, True))
        init.renew.assert_called_once_with()
        self.assertIs(following, init)

    def test_an_init_that_could_not_be_renewed_serves_no_further_run(self):
        init, following = self.end_last_run(self.spares(True, True), is_busy=lambda: False)
        init.dismiss.assert_called_once_with()
        self.assertIsNone(following)

    def test_an_init_of_the_same_user_as_the_code_ends_with_the_last_run(self):
        init, following = self.end_last_run(self.spares(True, True, user=None))
        init.dismiss.assert_called_once_with()
        self.assertIsNone(following)

    def test_no_code_starts_if_no_process_can_be_forked(self):
        made = self.spares(False, False, True)
        self.assertRaises(BlockingIOError, made.take, None)
        self.assertTrue(made.take(None).is_ready())


if __name__ == "__main__":
    unittest.main()
