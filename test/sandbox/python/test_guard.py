"""Tests that code without `network.allow` reaches other hosts and itself, but no program of its
own machine.
"""

import json
import os
import sys
import tempfile
import unittest

from outside import ECHO, INTERPRETER, LOCAL, OUTSIDE, OWN, prepare
from support import ONE_USER, Sandbox, a_python_for_everybody, one_user_may_build_walls

_PYTHON = a_python_for_everybody() if sys.platform == "linux" else None

_ATTEMPT = """
import ctypes, errno, os, socket, struct, threading
def attempt(action):
    try:
        return repr(action())
    except OSError as error:
        return type(error).__name__ if not error.errno else errno.errorcode[error.errno]
def talk(address, timeout=None):
    with socket.create_connection(address, timeout) as connection:
        connection.sendall(b"x")
        return connection.recv(1)
"""


class Guarded:
    how = {"prefix": ["unshare", "--net"]}

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        os.chmod(folder.name, 0o777)
        cls.sandbox = Sandbox(python=_PYTHON, **cls.how)
        cls.addClassCleanup(cls.sandbox.close)
        cls.log = prepare(cls.sandbox, folder.name)

    def values_of(self, code, near=(), **values):
        context = {key: json.dumps(value) for key, value in values.items()}
        return self.sandbox.changes(_ATTEMPT + code, context, near=near)

    def visits(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            return [tuple(json.loads(line)) for line in file]

    def test_every_kind_of_client_can_connect_to_other_hosts(self):
        code = """
import asyncio, subprocess, sys
host = tuple(context["host"])
context["waiting"] = [attempt(lambda: talk(host)), attempt(lambda: talk(host, 5))]
async def stream():
    reader, writer = await asyncio.open_connection(*host)
    writer.write(b"x")
    return await reader.read(1)
context["asyncio"] = asyncio.run(stream())
script = f"import socket; c = socket.create_connection({host}); c.sendall(b'x'); print(c.recv(1), c.getpeername())"
context["program"] = subprocess.check_output([sys.executable, "-c", script], text=True).strip()
connection = socket.socket()
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
connection.connect(host)
context["peer"] = [*connection.getpeername(), connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0]
context["is_closed_on_exec"] = not os.get_inheritable(connection.fileno())
with socket.socket(socket.AF_INET6) as mapped:
    mapped.connect(("::ffff:" + host[0], host[1]))
    mapped.sendall(b"x")
    context["mapped"] = mapped.recv(1)
"""
        found = self.values_of(code, host=[OUTSIDE, ECHO])
        self.assertEqual(
            found,
            {
                "waiting": ["b'x'", "b'x'"],
                "asyncio": b"x",
                "program": f"b'x' ('{OUTSIDE}', {ECHO})",
                "peer": [OUTSIDE, ECHO, True],
                "is_closed_on_exec": True,
                "mapped": b"x",
            },
        )

    def test_a_refused_connection_to_another_host_has_the_usual_error(self):
        code = """
context["waiting"] = [attempt(lambda: talk((context["host"], 9))), attempt(lambda: talk((context["host"], 9), 5))]
with socket.socket() as connection:
    connection.setblocking(False)
    context["later"] = connection.connect_ex((context["host"], 9)) in (errno.EINPROGRESS, errno.ECONNREFUSED)
context["nowhere"] = attempt(lambda: talk(("192.0.2.1", 443), 5))
"""
        found = self.values_of(code, host=OUTSIDE)
        self.assertEqual(
            found, {"waiting": ["ECONNREFUSED"] * 2, "later": True, "nowhere": "ENETUNREACH"}
        )

    def test_code_cannot_connect_to_programs_on_the_same_machine(self):
        places = [["127.0.0.1", INTERPRETER], ["127.0.0.1", LOCAL], ["0.0.0.0", LOCAL], ["::1", LOCAL], [OWN, ECHO]]
        places += [["::ffff:127.0.0.1", LOCAL], ["127.0.0.2", INTERPRETER], ["169.254.169.254", 80]]
        before = self.visits()
        result = self.sandbox.run(
            _ATTEMPT + "context['found'] = [attempt(lambda: talk(tuple(p), 5)) for p in context['places']]",
            {"places": json.dumps(places)},
        )
        found = json.loads(dict(result["set"])["found"])
        self.assertEqual(set(found), {"ECONNREFUSED", "ENETUNREACH"})
        self.assertEqual(self.visits(), before)
        self.assertIn(f"[network] 127.0.0.1:{LOCAL} is on this machine", result["logs"])

    def test_code_can_connect_to_a_credential_host_on_this_machine_but_not_to_the_interpreter(self):
        near = [f"127.0.0.1:{LOCAL}", f"127.0.0.1:{INTERPRETER}", "localhost"]
        code = "context['found'] = [attempt(lambda: talk(('127.0.0.1', port), 5)) for port in context['ports']]"
        found = self.values_of(code, near, ports=[LOCAL, INTERPRETER])
        self.assertEqual(found["found"], ["b'x'", "ECONNREFUSED"])

    def test_code_can_connect_to_its_own_servers(self):
        code = """
import asyncio, multiprocessing, socketserver
listener = socket.create_server(("127.0.0.1", 0))
def serve():
    connection, _ = listener.accept()
    with connection:
        connection.sendall(connection.recv(1))
threading.Thread(target=serve).start()
context["tcp"] = attempt(lambda: talk(listener.getsockname()))
for name, address in (("path", "/tmp/own.sock"), ("relative", "other.sock"), ("abstract", "\\0own")):
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as caller:
        listener.bind(address)
        listener.listen(0)
        context[name] = attempt(lambda: caller.connect(address))
with multiprocessing.Manager() as manager:
    shared = manager.dict()
    shared["a"] = 1
    context["manager"] = shared["a"]
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as letters, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as pen:
    letters.bind("/tmp/letters")
    pen.connect("/tmp/letters")
    pen.send(b"x")
    context["letters"] = letters.recv(1)
"""
        expected = {"tcp": "b'x'", "manager": 1, "letters": b"x"}
        self.assertEqual(self.values_of(code), {**expected, "path": "None", "relative": "None", "abstract": "None"})

    def test_a_client_waits_until_the_full_queue_of_its_own_server_has_room(self):
        code = """
import time
listener = socket.socket(socket.AF_UNIX)
listener.bind("/tmp/full")
listener.listen(0)
first, second = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
first.connect("/tmp/full")
waiting = threading.Thread(target=second.connect, args=("/tmp/full",))
waiting.start()
listener.accept()
listener.accept()
waiting.join()
third = socket.socket(socket.AF_UNIX)
third.connect("/tmp/full")
fourth = socket.socket(socket.AF_UNIX)
fourth.setblocking(False)
context["full"] = attempt(lambda: fourth.connect("/tmp/full"))
"""
        self.assertEqual(self.values_of(code), {"full": "EAGAIN"})

    def test_code_can_resolve_host_names(self):
        code = """
found = socket.getaddrinfo("some.example", 80, type=socket.SOCK_STREAM)
context["addresses"] = sorted({entry[4][0] for entry in found})
context["talk"] = attempt(lambda: talk(("other.example", context["port"]), 5))
"""
        self.assertEqual(self.values_of(code, port=ECHO), {"addresses": [OUTSIDE], "talk": "b'x'"})

    def test_code_cannot_redirect_a_connection_from_another_host_to_this_machine(self):
        code = """
libc = ctypes.CDLL(None, use_errno=True)
def address_of(host, port):
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + socket.inet_aton(host) + bytes(8)
def connected():
    connection = socket.create_connection((context["outside"], context["echo"]))
    connection.settimeout(3)
    return connection
forbidden = ("127.0.0.1", context["interpreter"])
results = {}
with connected() as connection:
    results["again"] = attempt(lambda: connection.connect(forbidden))
    raw = struct.pack("=H14x", socket.AF_UNSPEC)
    results["undo"] = libc.connect(connection.fileno(), raw, 16)
    results["after"] = attempt(lambda: connection.connect(forbidden))
with connected() as connection:
    connection.shutdown(socket.SHUT_RDWR)
    results["fast"] = attempt(lambda: connection.sendto(b"x", 0x20000000, forbidden))
with connected() as connection:
    results["fast message"] = attempt(lambda: connection.sendmsg([b"x"], [], 0x20000000, forbidden))
with socket.socket() as fresh:
    results["fast fresh"] = attempt(lambda: fresh.sendto(b"x", 0x20000000, forbidden))
with connected() as connection:
    results["listen"] = attempt(lambda: connection.listen())
buffer = ctypes.create_string_buffer(address_of(context["outside"], context["echo"]), 16)
inner, is_over = address_of(*forbidden), False
outer = bytes(buffer.raw)
def flip():
    while not is_over:
        ctypes.memmove(buffer, inner, 16)
        ctypes.memmove(buffer, outer, 16)
threads = [threading.Thread(target=flip) for _ in range(2)]
for thread in threads: thread.start()
for _ in range(300):
    with socket.socket() as racing:
        libc.connect(racing.fileno(), buffer, 16)
is_over = True
context["results"] = results
"""
        before = [visit for visit in self.visits() if visit[1] == INTERPRETER]
        found = self.values_of(code, outside=OUTSIDE, echo=ECHO, interpreter=INTERPRETER)["results"]
        self.assertEqual(found.pop("undo"), -1)
        self.assertLessEqual(set(found.values()), {"EISCONN", "ENETUNREACH", "ECONNREFUSED", "ENOTSUP", "EINVAL"})
        self.assertEqual([visit for visit in self.visits() if visit[1] == INTERPRETER], before)

    def test_code_cannot_send_datagrams_to_any_host(self):
        code = """
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    context["out"] = [attempt(lambda: any_socket.sendto(b"x", (host, 53))) for host in context["hosts"]]
"""
        self.assertEqual(self.values_of(code, hosts=[OUTSIDE, OWN]), {"out": ["ENETUNREACH"] * 2})

    def test_code_can_still_connect_after_invalid_system_calls(self):
        code = """
libc = ctypes.CDLL(None, use_errno=True)
def call(*values):
    return libc.syscall(*map(ctypes.c_ulong, values))
numbers = (42, 50) if os.uname().machine == "x86_64" else (203, 201)
some, file = socket.socket(), open("/dev/null")
address = ctypes.create_string_buffer(struct.pack("=H", socket.AF_INET) + bytes(3))
places = [0, 1, 2 ** 64 - 1, 2 ** 63, ctypes.addressof(address)]
for number in numbers:
    for fd in (some.fileno(), file.fileno(), 2 ** 64 - 1, 2 ** 31, 999):
        for place in places:
            for size in (0, 1, 2, 5, 16, 2 ** 31, 2 ** 64 - 1):
                call(number, fd, place, size)
context["survived"] = attempt(lambda: talk((context["host"], context["port"])))
"""
        self.assertEqual(self.values_of(code, host=OUTSIDE, port=ECHO), {"survived": "b'x'"})

    def test_a_flood_of_connections_does_not_harm_the_next_node(self):
        code = """
for _ in range(500):
    with socket.socket() as any_socket:
        any_socket.setblocking(False)
        any_socket.connect_ex((context["host"], context["port"]))
"""
        self.values_of(code, host=OUTSIDE, port=ECHO)
        self.assertEqual(self.values_of("context['a'] = 1"), {"a": 1})

    def test_code_can_still_connect_after_it_has_closed_the_descriptors_of_the_harness(self):
        code = """
listener = socket.create_server(("127.0.0.1", 0))
for fd in set(map(int, os.listdir("/proc/self/fd"))) - {0, 1, 2, listener.fileno()}:
    try: os.close(fd)
    except OSError: pass
client = socket.socket()
client.settimeout(5)
client.connect(listener.getsockname())
print("connected", flush=True)
"""
        answer = self.sandbox.finish(self.sandbox.begin(_ATTEMPT + code, timeout=10))
        self.assertIn("connected", answer["logs"])
        self.assertEqual(answer["result"]["class"], "NodeFailed", "the result could not be written")

    def test_the_daemon_closes_the_descriptors_of_waiting_callers_when_the_code_ends(self):
        code = """
import time
def connect(kind, address):
    listener = socket.socket(kind)
    listener.bind(address)
    listener.listen(0)
    def call():
        client = socket.socket(kind)
        attempt(lambda: client.connect(listener.getsockname()))
        time.sleep(60)
    for _ in range(9):
        threading.Thread(target=call, daemon=True).start()
    return listener
kept = [connect(socket.AF_INET, ("127.0.0.1", 0)), connect(socket.AF_UNIX, "waiting")]
time.sleep(0.3)
"""
        open_files = []
        for _ in range(3):
            self.assertEqual(self.sandbox.run(_ATTEMPT + code)["status"], "success")
            self.sandbox.run("")
            open_files.append(len(os.listdir(f"/proc/{self.sandbox.daemon_pid()}/fd")))
        self.assertLess(open_files[2] - open_files[0], 9, open_files)


@unittest.skipUnless(_PYTHON and os.geteuid() == 0, "needs root and a Python that everybody may run")
class OfManyUsers(Guarded, unittest.TestCase):
    pass


@unittest.skipUnless(_PYTHON and one_user_may_build_walls(), "needs a system that lets ordinary users make namespaces")
class OfOneUser(Guarded, unittest.TestCase):
    how = {**ONE_USER, "prefix": [*ONE_USER["prefix"], "--net"]}


if __name__ == "__main__":
    unittest.main()
