"""Tests that a shortage of resources delays code, never weakens the isolation, and is not a
failure of the code.
"""

import contextlib
import errno
import os
import resource
import subprocess
import sys
import unittest

from support import ONE_USER, Sandbox, a_python_for_everybody, one_user_may_build_walls

_IS_LINUX = sys.platform == "linux"
_IS_ROOT = _IS_LINUX and os.geteuid() == 0
_PYTHON = a_python_for_everybody() if _IS_ROOT else sys.executable
# The tests isolate code as root does, or as an ordinary user does if they run without root.
_HOW = {} if _IS_ROOT else ONE_USER
_needs_walls = unittest.skipUnless(
    _IS_LINUX and _PYTHON and (_IS_ROOT or one_user_may_build_walls()), "this user may not build walls"
)

# Code with a function that fills queues that no process reads. It returns the number of descriptors in the queues, the
# sockets, and whether a limit was reached.
FLOOD = """
import array, socket, sys
def flood(most):
    sent, kept, full = 0, [], False
    while sent < most and not full:
        ends = socket.socketpair()
        kept.append(ends)
        ends[0].setblocking(False)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [ends[1].fileno()] * 250))]
        while sent < most:
            try:
                ends[0].sendmsg([b"x"], rights)
                sent += 250
            except BlockingIOError:
                break
            except OSError as error:
                full = True
                break
    return sent, kept
"""

# Code that makes one function of the harness fail with an error while the flag `short` is 1. All processes share this
# flag.
_FAILING = """
import errno, mmap, os
from nova_harness import jail, landlock, linux, netns, process, store, seccomp
short = globals().get("short") or mmap.mmap(-1, 1)
def fail_while_short(error, owner, name):
    original = getattr(owner, name)
    def failing(*arguments, **more):
        if short[0]:
            raise error
        return original(*arguments, **more)
    setattr(owner, name, failing)
"""

_STAGES = {
    "the namespaces of a run": "linux, 'fork'",
    "its own mounts": "linux, 'unshare'",
    "a mount": "linux, 'mount'",
    "read-only mounts": "linux, 'forbid_writing'",
    "the filter of system calls": "seccomp, 'shut'",
    "Landlock": "landlock.Landlock, '__init__'",
    "the version of Landlock": "jail, 'version_here'",
    "a network": "netns, 'raise_loopback'",
    "a change of user": "linux, 'named'",
}
_SHORTAGES = (errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EMFILE, errno.ETOOMANYREFS, errno.EUSERS)
_UNSUPPORTED = (errno.ENOSYS, errno.EPERM, errno.EINVAL)

NETWORK = "import socket; context['names'] = sorted(name for _, name in socket.if_nameindex())"


@contextlib.contextmanager
def flooding(**how):
    """Keeps 20,000 descriptors in transit, in another process of the same user."""
    code = f"{FLOOD}\nsent, kept = flood(19_500)\nprint(sent, flush=True)\nsys.stdin.read()"
    flood = subprocess.Popen([_PYTHON, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **how)
    try:
        yield int(flood.stdout.readline())
    finally:
        flood.stdin.close()
        flood.wait()
        flood.stdout.close()


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))


@_needs_walls
class Floods(unittest.TestCase):
    def test_too_many_descriptors_in_transit_prevent_the_start_but_do_not_weaken_the_isolation(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 20_000:
            self.skipTest("this user may not have 20,000 descriptors")
        sandbox = Sandbox(python=_PYTHON, preexec_fn=few_descriptors, **_HOW)
        self.addCleanup(sandbox.close)
        with flooding(**({"user": 65534, "group": 65534} if _IS_ROOT else {})) as sent:
            self.assertGreater(sent, 4096 + 250)
            answer = sandbox.finish(sandbox.begin(NETWORK))
            self.assertEqual(answer["type"], "trouble", answer)
            self.assertIn("Too many references", answer["message"])
        self.assertEqual(sandbox.changes(NETWORK), {"names": ["lo"]})


class Short(Sandbox):
    """A sandbox whose harness fails as `failing` describes (see _FAILING), while `short` is 1."""

    def __init__(self, failing, **how):
        super().__init__(python=_PYTHON, **{**_HOW, **how})
        self.kernel().run(f"{_FAILING}\n{failing}")

    def be_short(self, is_short):
        self.kernels[0].run(f"short[0] = {int(is_short)}")


@_needs_walls
class Stages(unittest.TestCase):
    how = _HOW

    def sandbox(self, stage, error):
        sandbox = Short(f"fail_while_short({error}, {stage})", **self.how)
        self.addCleanup(sandbox.close)
        sandbox.be_short(True)
        return sandbox

    def test_a_shortage_at_any_stage_delays_the_start_until_the_shortage_is_over(self):
        for index, (name, stage) in enumerate(_STAGES.items()):
            number = _SHORTAGES[index % len(_SHORTAGES)]
            if self.how and name == "a change of user":
                continue
            with self.subTest(name, error=errno.errorcode[number]):
                sandbox = self.sandbox(stage, f"linux.CallFailed({number}, 'some_call')")
                for _ in range(2):
                    answer = sandbox.finish(sandbox.begin(NETWORK))
                    self.assertEqual(answer["type"], "trouble", answer)
                    self.assertIn(os.strerror(number), answer["message"])
                sandbox.be_short(False)
                answer = sandbox.finish(sandbox.begin(NETWORK))
                self.assertEqual(answer["result"]["set"], [["names", '["lo"]']])
                self.assertNotIn("weaker", answer)

    def test_an_error_that_names_no_system_call_does_not_weaken_the_isolation(self):
        sandbox = self.sandbox("linux, 'unshare'", f"OSError({errno.EPERM}, 'no')")
        self.assertEqual(sandbox.finish(sandbox.begin(NETWORK))["type"], "trouble")

    def test_each_result_reports_a_system_call_that_the_system_does_not_support(self):
        for number in _UNSUPPORTED:
            with self.subTest(errno.errorcode[number]):
                sandbox = self.sandbox("seccomp, 'shut'", f"linux.CallFailed({number}, 'some_call')")
                answer = sandbox.finish(sandbox.begin(NETWORK))
                self.assertRegex(answer["weaker"], rf"^this system makes no walls .*{os.strerror(number)}.*some_call")
                sandbox.be_short(False)
                self.assertIn("weaker", sandbox.finish(sandbox.begin(NETWORK)), "the walls changed while the daemon ran")

    def test_the_other_isolation_remains_if_the_system_supports_no_guard(self):
        code = (
            "real = seccomp.shut\n"
            "def shut(asks=False):\n"
            "    if asks: raise linux.CallFailed(errno.EINVAL, 'seccomp')\n"
            "    return real(asks)\n"
            "seccomp.shut = shut"
        )
        sandbox = Short(code, **self.how)
        self.addCleanup(sandbox.close)
        answer = sandbox.finish(sandbox.begin("import os; context['pid'] = os.getpid()"))
        self.assertLess(int(answer["result"]["set"][0][1]), 10)
        self.assertRegex(answer["weaker"], "^this system lets no guard answer for code .*seccomp")


@unittest.skipUnless(_IS_ROOT and _PYTHON and one_user_may_build_walls(), "needs root and walls of another user")
class StagesOfOneUser(Stages):
    how = ONE_USER


@_needs_walls
class BeforeTheCode(unittest.TestCase):
    """Sending the code fails after the process is isolated."""

    def assert_begins_when_the_shortage_is_over(self, failing):
        sandbox = Short(failing)
        self.addCleanup(sandbox.close)
        self.assertEqual(sandbox.changes("context['a'] = 1"), {"a": 1})
        sandbox.be_short(True)
        for _ in range(2):
            answer = sandbox.finish(sandbox.begin("context['b'] = 1", link="one"))
            self.assertEqual(answer["type"], "trouble", answer)
        sandbox.be_short(False)
        self.assertEqual(sandbox.changes("context['b'] = 2", link="one"), {"b": 2})

    def test_no_code_starts_if_its_request_cannot_be_sent(self):
        self.assert_begins_when_the_shortage_is_over(
            "fail_while_short(OSError(errno.ETOOMANYREFS, 'no'), process.Process, 'begin')"
        )

    def test_no_code_starts_if_the_process_fails_after_it_got_the_request(self):
        for error in ("OSError(errno.ENOMEM, 'no')", "MemoryError()"):
            with self.subTest(error):
                self.assert_begins_when_the_shortage_is_over(f"fail_while_short({error}, jail.Jail, 'shut')")

    def test_no_code_starts_if_the_process_is_killed_before_it_reads_the_request(self):
        self.assert_begins_when_the_shortage_is_over(
            "begin = process.Process.begin\n"
            "def die_and_begin(self, *arguments):\n"
            "    if short[0]:\n"
            "        self.kill()\n"
            "        while self.reader.read(): pass\n"
            "    begin(self, *arguments)\n"
            "process.Process.begin = die_and_begin"
        )

    def test_no_code_starts_if_a_folder_cannot_be_created(self):
        for name in ("claim", "make_out"):
            with self.subTest(name):
                self.assert_begins_when_the_shortage_is_over(
                    f"fail_while_short(OSError(errno.ENOSPC, 'no'), store.Store, {name!r})"
                )

    def test_no_code_starts_if_the_process_hangs_before_the_start_until_the_timeout(self):
        sandbox = Short(
            "import time\n"
            "shut = jail.Jail.shut\n"
            "def late(*arguments):\n"
            "    if short[0]: time.sleep(99)\n"
            "    shut(*arguments)\n"
            "jail.Jail.shut = late"
        )
        self.addCleanup(sandbox.close)
        sandbox.be_short(True)
        answer = sandbox.finish(sandbox.begin("context['a'] = 1", timeout=0.3))
        self.assertEqual(answer["type"], "trouble", answer)

    def test_code_that_dies_after_its_start_fails_its_node(self):
        sandbox = Sandbox(python=_PYTHON)
        self.addCleanup(sandbox.close)
        result = sandbox.run("import os; os._exit(3)")
        self.assertEqual((result["status"], result["class"]), ("error", "NodeFailed"))


if __name__ == "__main__":
    unittest.main()
