"""Tests that code with its own network reaches only allowed hosts, and fails if the system cannot
isolate the network.
"""

import os
import socket
import unittest

from networks import ATTEMPTS, IS_ROOT, PYTHON, TALK, WithNetwork, needs_walls, talk_to
from servers import Letterbox
from support import Sandbox, children_of


@needs_walls
class Walls(WithNetwork):
    def test_code_cannot_connect_to_a_server_that_is_not_allowed(self):
        server, other = self.serve(), self.serve()
        for allow in ([], [f"127.0.0.1:{other.port}"], ["example.com"]):
            with self.subTest(str(allow)):
                message = self.failure("127.0.0.1", server.port, allow)["message"]
                self.assertIn("ConnectionRefusedError: [Errno 111] Connection refused - network.allow", message)
        self.assertEqual(server.visits, [])

    def test_no_node_can_connect_to_the_code_interpreter(self):
        with socket.create_server(("127.0.0.1", 49999)) as interpreter:
            interpreter.setblocking(False)
            self.failure("127.0.0.1", 49999, None)
            self.assertIn("reset", self.failure("127.0.0.1", 49999, ["127.0.0.1:49999"])["message"])
            self.assertRaises(BlockingIOError, interpreter.accept)

    def test_an_address_of_another_machine_is_immediately_unreachable(self):
        message = self.failure("192.0.2.1", 443, [])["message"]
        self.assertIn("Network is unreachable - network.allow of the node says", message)

    def test_code_cannot_resolve_a_host_name_that_is_not_allowed(self):
        result = self.sandbox.run("import socket; socket.getaddrinfo('example.com', 443)", allow=["other.example:443"])
        self.assertRegex(result["message"], "^gaierror: .* - network.allow of the node says")

    def test_the_message_of_an_error_has_a_hint_if_a_network_error_caused_the_error(self):
        code = """
import socket
try:
    socket.create_connection(("127.0.0.1", 9))
except OSError as error:
    raise ValueError("no mail") from error
"""
        self.assertIn("no mail - network.allow", self.sandbox.run(code, allow=[])["message"])
        self.assertEqual(self.sandbox.run(code)["message"], "ValueError: no mail")
        self.assertEqual(self.sandbox.run("raise ValueError('no')", allow=[])["message"], "ValueError: no")

    def test_code_cannot_send_datagrams(self):
        letterbox = Letterbox()
        self.addCleanup(letterbox.close)
        code = f"""
import socket
{ATTEMPTS}
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    attempt(lambda: any_socket.sendto(b"x", ("127.0.0.1", context["port"])))
    context["out"] = attempt(lambda: any_socket.sendto(b"x", ("192.0.2.1", 53)))
"""
        allow = [f"127.0.0.1:{letterbox.port}"]
        found = self.sandbox.changes(code, {"port": str(letterbox.port)}, allow=allow)
        self.assertEqual(found["out"], "OSError")
        self.sandbox.changes(code, {"port": str(letterbox.port)})
        self.assertIsNone(letterbox.mail())

    def test_code_cannot_use_unix_sockets_of_the_machine_or_other_socket_families(self):
        in_tree = f"/run/nova-test-{os.getpid()}.sock"
        with socket.socket(socket.AF_UNIX) as abstract, socket.socket(socket.AF_UNIX) as named:
            abstract.bind(f"\0nova-{os.getpid()}")
            named.bind(in_tree)
            self.addCleanup(os.unlink, in_tree)
            os.chmod(in_tree, 0o777)
            abstract.listen()
            named.listen()
            code = f"""
import os, socket, stat
{ATTEMPTS}
def knock(address):
    with socket.socket(socket.AF_UNIX) as any_socket:
        any_socket.connect(address)
context["abstract"] = attempt(lambda: knock("\\0nova-{os.getpid()}"))
context["in_tree"] = attempt(lambda: knock({in_tree!r}))
context["families"] = [attempt(lambda: socket.socket(family, socket.SOCK_STREAM)) for family in (40, 17, 38, 31)]
found = []
for folder, folders, names in os.walk("/"):
    folders[:] = [] if folder in ("/proc", "/usr") else [name for name in folders if name != "node_modules"]
    found += [os.path.join(folder, name) for name in names]
context["files"] = [path for path in found if os.path.lexists(path) and stat.S_ISSOCK(os.lstat(path).st_mode)]
"""
            found = self.sandbox.changes(code, allow=["example.com"], timeout=120)
            self.assertEqual(found.pop("families"), ["OSError"] * 4)
            refused = {"abstract": "ConnectionRefusedError", "in_tree": "FileNotFoundError"}
            self.assertEqual(found, {**refused, "files": []})
            usual = self.sandbox.changes(code, timeout=120)
            self.assertEqual({name: usual[name] for name in refused}, refused)

    def test_code_cannot_leave_its_network(self):
        server = self.serve()
        code = f"""
import ctypes, glob, os, platform, socket
{ATTEMPTS}
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *values):
    if getattr(libc, name)(*values) != 0:
        raise OSError(ctypes.get_errno(), name)
def enter(path):
    call("setns", os.open(path, os.O_RDONLY), 0)
def ring():
    if libc.syscall(425, 8, ctypes.create_string_buffer(120)) < 0:
        raise OSError(ctypes.get_errno(), "io_uring")
context["enter"] = [attempt(lambda: enter(path)) for path in glob.glob("/proc/*/ns/net")]
context["unshare"] = [attempt(lambda: call("unshare", flags)) for flags in (0x40000000, 0x10000000, 0x50000000)]
context["ring"] = attempt(ring)
context["raw"] = attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
context["hosts"] = attempt(lambda: open("/etc/hosts", "a"))
context["interfaces"] = [name for _, name in socket.if_nameindex()]
families = [attempt(lambda: socket.socket(fileno=os.dup(fd)).family.name) for fd in range(3, 30)]
context["sockets"] = [family for family in families if "INET" in family]
"""
        found = self.sandbox.changes(code, allow=[f"127.0.0.1:{server.port}"])
        self.assertLessEqual(set(found.pop("enter")), {"PermissionError", "FileNotFoundError"})
        self.assertEqual(found.pop("unshare"), ["PermissionError"] * 3)
        refused = dict.fromkeys(("ring", "raw", "hosts"), "PermissionError")
        self.assertEqual(found, {**refused, "interfaces": ["lo"], "sockets": []})

    def test_code_with_the_usual_network_reaches_its_credential_hosts_before_and_after_isolated_code(self):
        server = self.serve()
        for allow in (None, [], None):
            if allow is None:
                near = [f"localhost:{server.port}", "no host"]
                values = self.sandbox.changes(TALK, talk_to("127.0.0.1", server.port), near=near)
                self.assertEqual(values["answer"], b"x")
            else:
                self.failure("127.0.0.1", server.port, allow)


@needs_walls
class Ends(WithNetwork):
    def children(self):
        return [*children_of(self.sandbox.daemon_pid()), *self.sandbox.inits()]

    def test_the_network_processes_of_a_run_end_after_the_run(self):
        server = self.serve()
        code = "import socket; c = socket.create_connection(('127.0.0.1', context['port'])); c.sendall(b'x'); c.recv(1)"
        for visits in (1, 2, 3):
            context, allow = {"port": str(server.port)}, [f"127.0.0.1:{server.port}"]
            begun = self.sandbox.begin(code, context, timeout=0.2, allow=allow)
            self.assertEqual(self.sandbox.finish(begun)["result"]["class"], "NodeTimeout")
            self.assertEqual(server.await_visits(visits), [b"x"] * visits)
        for _ in range(50):
            if len(self.children()) == 4:  # The zygote, two inits of spare processes, and a relay.
                return
            self.sandbox.run("")
        self.fail(f"{len(self.children())} processes")

    def test_a_repeated_request_gets_the_first_result_and_opens_no_connection(self):
        server = self.serve()
        context, allow = talk_to("127.0.0.1", server.port), [f"127.0.0.1:{server.port}"]
        answers = [self.sandbox.finish(self.sandbox.begin(TALK, context, link="l", allow=allow)) for _ in range(2)]
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(len(server.await_visits(1)), 1)
        self.failure("127.0.0.1", server.port, [])


@needs_walls
class Unable(WithNetwork):
    def refusal(self, allow, **how):
        answer = self.sandbox.finish(self.sandbox.begin("context['a'] = 1", allow=allow, **how))
        self.assertEqual(answer["type"], "unable", answer)
        return answer["message"]

    def test_code_with_network_allow_does_not_run_without_network_namespaces(self):
        self.sandbox.kernel().run(
            """
from nova_harness import jail, linux
fork = jail.Jail.fork
def refuse(walls):
    if walls.has_own_network:
        raise linux.CallFailed(22, "clone")
    return fork(walls)
jail.Jail.fork = refuse
"""
        )
        message = self.refusal([], link="l")
        self.assertRegex(message, "^the code may only run with a network of its own, .*Invalid argument.* - allow netw")
        self.assertEqual(self.sandbox.changes("context['a'] = 1", link="l"), {"a": 1})

    def test_the_other_isolation_remains_if_the_system_supports_no_guard(self):
        server = self.serve()
        self.sandbox.kernel().run(
            """
from nova_harness import linux, seccomp
shut = seccomp.shut
def refuse(asks=False):
    if asks:
        raise linux.CallFailed(22, "seccomp")
    return shut()
seccomp.shut = refuse
"""
        )
        code = "import os; context['pids'] = len([name for name in os.listdir('/proc') if name.isdigit()])"
        found = self.sandbox.changes(TALK + code, talk_to("127.0.0.1", server.port))
        self.assertEqual([found["answer"], found["pids"]], [b"x", 1])

    def test_code_with_network_allow_does_not_run_without_a_filter_of_system_calls(self):
        self.sandbox.kernel().run("from nova_harness import seccomp; seccomp._MACHINES.clear()")
        self.assertIn("this machine has no walls between programs", self.refusal([]))
        self.assertEqual(self.sandbox.changes("context['a'] = 1"), {"a": 1})

    def test_code_does_not_run_if_its_network_cannot_be_created_and_the_message_has_the_reason(self):
        self.sandbox.kernel().run(
            """
import os, time, traceback
from nova_harness import netns
def open_doors(doors):
    raise OSError(99, "Cannot assign requested address")
netns.open_doors = open_doors
write = traceback.format_exc
traceback.format_exc = lambda: os.getpid() == 1 and time.sleep(0.2) or write()  # makes init report the error late
"""
        )
        self.assertIn("this machine gives none ([Errno 99] Cannot assign requested address)", self.refusal(["a.example"]))
        self.assertEqual(self.sandbox.changes("context['a'] = 1"), {"a": 1})

    def test_a_shortage_during_the_creation_of_a_network_is_reported_as_a_lack_of_resources(self):
        for error in ("OSError(24, 'Too many open files')", "MemoryError()"):
            with self.subTest(error):
                self.sandbox.kernel().run(
                    "from nova_harness import netns\n"
                    f"def open_doors(doors):\n    raise {error}\n"
                    "netns.open_doors = open_doors"
                )
                answer = self.sandbox.finish(self.sandbox.begin("context['a'] = 1", allow=["a.example"]))
                self.assertEqual(answer["type"], "trouble", answer)

    def test_an_invalid_entry_of_network_allow_is_refused(self):
        nobody = ("0.0.0.0:80", "224.0.0.1", "[::]:1", "[::ffff:1.2.3.4]:1")
        for entry in ("*.example.com", "", 3, "a:0", "https://a", *nobody):
            self.assertRegex(self.refusal([entry]), "^network.allow cannot be enforced .* - correct it$")


@unittest.skipUnless(IS_ROOT and PYTHON, "needs root, to start somebody who is not")
class WithoutWalls(unittest.TestCase):
    def test_code_with_network_allow_is_refused_on_a_machine_without_isolation(self):
        sandbox = Sandbox(python=PYTHON, user=65534, group=65534, extra_groups=[])
        self.addCleanup(sandbox.close)
        answer = sandbox.finish(sandbox.begin("context['a'] = 1", allow=[]))
        self.assertEqual(answer["type"], "unable")
        self.assertRegex(answer["message"], "this machine has no walls between programs - on Linux install bubblewrap")
        self.assertEqual(sandbox.changes("context['a'] = 1"), {"a": 1})


if __name__ == "__main__":
    unittest.main()
