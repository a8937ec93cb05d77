"""Tests that a sandbox serves one execution after another, and that code of a later one finds no
data of an earlier one.
"""

import errno
import json
import os
import textwrap
import time
import unittest

from networks import needs_walls
from support import Sandbox, a_python_for_everybody, marked_processes

_PYTHON = a_python_for_everybody()

MARK = "left-behind-7c1f"

LEAVE = f"""
import os, socket, subprocess, sys, builtins, json
mark = "{MARK}"
places = ["/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~"), os.getcwd(), "/home/lib"]
for place in places:
    try:
        with open(os.path.join(place, mark), "w") as file:
            file.write(mark)
    except OSError:
        pass
os.environ["LEFT"] = mark
builtins.left = json.left = mark
keep = [socket.socket(socket.AF_UNIX), socket.socket()]
keep[0].bind("\\0" + mark)
keep[0].listen()
keep[1].bind(("127.0.0.1", 0))
keep[1].listen()
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
subprocess.Popen(sleep, env={{"MARK": mark}}, start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True: __import__("time").sleep(1)
    os._exit(0)
for folder in ("/dev/mqueue",):
    if os.path.isdir(folder):
        try: open(os.path.join(folder, mark), "w").close()
        except OSError: pass
print(mark)
context["secret"] = mark * 500
context["file"] = (mark * 1000).encode()
"""

LOOK = f"""
import builtins, json, os, re, socket
mark = "left-behind" + "-7c1f"
found = []
for place in ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", os.path.expanduser("~"), os.getcwd(), "/home", "/home/lib", "/run", "/root"]:
    try:
        found += [f"file {{place}}/{{name}}" for name in os.listdir(place) if mark in name]
    except OSError:
        pass
found += [f"variable {{name}}" for name, value in os.environ.items() if mark in value]
found += [f"module {{module.__name__}}" for module in (builtins, json) if hasattr(module, "left")]
for path in ["/proc/net/unix", "/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg"]:
    try:
        if mark in open(path).read(): found.append(f"socket or segment in {{path}}")
    except OSError:
        pass
for fd in os.listdir("/proc/self/fd"):
    try:
        if mark in os.readlink(f"/proc/self/fd/{{fd}}"): found.append(f"descriptor {{fd}}")
    except OSError:
        pass
needle = re.compile(b"(?:left.behind.7c1f){{3}}")
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        start, end, rights = re.match("([0-9a-f]+)-([0-9a-f]+) (....)", line).groups()
        if not rights.startswith("r") or "[v" in line: continue
        try:
            memory.seek(int(start, 16))
            data = memory.read(int(end, 16) - int(start, 16))
        except (OSError, ValueError, OverflowError):
            continue
        if needle.search(data): found.append("memory")
context["found"] = sorted(set(found))
"""

# Code that reads what its namespace shows of earlier runs. It then forks processes, and leaves a connection that the
# network still shows after the end of the connection.
_CONNECT = """
import os, socket
with open("/proc/net/dev") as devices, open("/proc/net/tcp") as connections, open("/proc/loadavg") as load:
    found = {"connections": len(connections.readlines()) - 1, "last": int(load.read().split()[-1])}
    (found["bytes"],) = (int(line.split()[1]) for line in devices if "lo:" in line)
context.update(found, pid=os.getpid())
for _ in range(5):
    if os.fork() == 0: os._exit(0)
    os.wait()
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
client.sendall(b"x" * 1000)
client.close()
server.recv(1000)
server.close()
"""
# Code that asks for the clocks that count the working time of pid 1 and of its own process. It lists the error of each
# call.
_CLOCKS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def error_of(call, *arguments):
    ctypes.set_errno(0)
    return max(0, call(*arguments)) or ctypes.get_errno()
def errors(pid):
    found, space, timer, at_once = [], ctypes.create_string_buffer(16), ctypes.c_void_p(), 1
    for kind in (0, 1, 2):
        clock = ctypes.c_int((~pid << 3) | kind)
        found.append(error_of(libc.clock_gettime, clock, space))
        found.append(error_of(libc.clock_nanosleep, clock, at_once, bytes(16), None))
        found.append(error_of(libc.timer_create, clock, None, ctypes.byref(timer)))
    return found
context.update(init=errors(1), own=errors(0))
"""
# Code whose thread starts a process that traces the code. The code cannot be reaped while this process lives.
_DELAY = """
import ctypes, os, threading, time
libc = ctypes.CDLL(None)
libc.prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)
code = os.getpid()
read, write = os.pipe()
def trace():
    if os.fork() == 0:
        os.write(write, b"0" if libc.ptrace(0x4206, code, 0, 0) else b"1")
    time.sleep(1000)
threading.Thread(target=trace, daemon=True).start()
context["is_traced"] = os.read(read, 1).decode()
"""
_NOTHING = {"pid": 2, "last": 2, "connections": 0, "bytes": 0}


def command_of(pid):
    """Returns the command line of a process; empty after it has ended, reaped or not."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


@needs_walls
class Executions(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox()

    def tearDown(self):
        self.sandbox.close()

    def leave(self):
        self.sandbox.changes(textwrap.dedent(LEAVE), link="exec_1.1", execution="exec_1")

    def look(self, execution="exec_2"):
        return self.sandbox.changes(textwrap.dedent(LOOK), link=f"{execution}.1", execution=execution)["found"]

    def test_code_finds_no_data_and_no_process_of_an_earlier_execution(self):
        self.leave()
        self.assertEqual(self.look(), [])
        self.assertEqual(marked_processes(MARK), [])

    def test_the_search_finds_data_that_the_same_code_has_left(self):
        code = textwrap.dedent(LEAVE) + textwrap.dedent(LOOK)
        kinds = {found.split()[0] for found in self.sandbox.changes(code)["found"]}
        self.assertEqual(kinds, {"file", "variable", "module", "socket", "memory"})

    def test_the_harness_removes_the_processes_and_files_of_the_earlier_execution(self):
        self.leave()
        before = self.sandbox.inits()
        self.look()
        self.assertEqual(list(map(command_of, before)), [b""], "a process behind which its code ran is still there")
        names = [name for folder in ("claims", "blobs", "answers") for name in os.listdir(f"{self.sandbox.root}/{folder}")]
        self.assertEqual(len(names), 1, "the one claim is that of the execution which is there now")

    def test_code_of_an_earlier_execution_does_not_start_again(self):
        self.leave()
        self.look()
        answer = self.sandbox.finish(self.sandbox.begin("context['a'] = 1", link="exec_1.1", execution="exec_1"))
        self.assertEqual(answer["type"], "tombstoned")

    def test_one_sandbox_serves_many_executions(self):
        for number in range(5):
            link, execution = f"exec_{number}.1", f"exec_{number}"
            self.assertEqual(self.sandbox.changes("context['n'] = 1", link=link, execution=execution), {"n": 1})

    def test_a_sandbox_reports_that_code_was_killed(self):
        code = "while True: pass"
        answer = self.sandbox.finish(self.sandbox.begin(code, timeout=0.3))
        self.assertTrue(answer.get("unfit"))
        answer = self.sandbox.finish(self.sandbox.begin("context['a'] = 1"))
        self.assertNotIn("unfit", answer)


@needs_walls
@unittest.skipUnless(_PYTHON and os.geteuid() == 0, "code has a user of its own only if root runs the sandbox")
class RenewedInits(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox(python=_PYTHON)
        self.addCleanup(self.sandbox.close)

    def run_last(self, execution):
        """Runs the last code of an execution. Returns what the code has found."""
        begun = self.sandbox.begin(_CONNECT, link=f"{execution}.1", execution=execution, last=True)
        return {key: json.loads(text) for key, text in self.sandbox.finish(begun)["result"]["set"]}

    def test_an_init_that_serves_the_next_execution_shows_no_data_of_the_earlier_execution(self):
        self.run_last("exec_1")
        (init,) = self.sandbox.inits()
        self.assertEqual(self.run_last("exec_2"), _NOTHING)
        self.assertEqual(self.sandbox.inits(), [init])

    def test_the_same_search_finds_data_of_another_node_of_the_same_execution(self):
        for _ in range(2):
            found = self.sandbox.changes(_CONNECT)
        self.assertEqual({key for key in found if found[key] > _NOTHING[key]}, set(_NOTHING))

    def test_an_init_that_cannot_be_renewed_is_replaced(self):
        self.sandbox.kernel().run("from nova_harness import init\ndef fail(_): raise OSError(30, 'no')\ninit._renew = fail")
        for number in range(3):
            self.assertEqual(self.run_last(f"exec_{number}"), _NOTHING)
        deadline = time.monotonic() + 10
        while self.sandbox.inits():
            self.assertLess(time.monotonic(), deadline, "a failed renewal was repeated")
            time.sleep(0.01)

    def test_code_that_delays_its_end_does_not_delay_the_next_execution(self):
        for number in range(3):
            begun = self.sandbox.begin(_DELAY, link=f"exec_{number}.1", execution=f"exec_{number}", timeout=1)
            self.assertEqual(self.sandbox.finish(begun)["result"]["set"], [["is_traced", '"1"']])
        self.assertEqual(self.run_last("exec_9"), _NOTHING)

    def test_code_cannot_read_the_clocks_of_the_init(self):
        self.assertEqual(self.sandbox.changes(_CLOCKS), {"init": [errno.EINVAL] * 9, "own": [0] * 9})
