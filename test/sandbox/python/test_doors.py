"""Tests connections through doors: addresses in a run's own network that lead to allowed hosts."""

import hashlib
import os
import socket
import unittest

from networks import ATTEMPTS, WithNetwork, needs_walls, talk_to
from servers import digest_and_back

# These tests choose the target of a door by its host.
_LEADS = """
import socket
from nova_harness import relay
relay._connect = lambda door: socket.create_connection(("127.0.0.1", {ports}[door.host]))
"""


@needs_walls
class Doors(WithNetwork):
    def test_a_connection_to_an_allowed_port_carries_a_megabyte_and_the_end_of_the_data_each_way(self):
        server = self.serve(answer=digest_and_back)
        data = "abcdefgh" * (1 << 17)
        answer = self.answer("127.0.0.1", server.port, [f"127.0.0.1:{server.port}"], data)
        self.assertEqual(answer[:64].decode(), hashlib.sha256(data.encode()).hexdigest())
        self.assertEqual(answer[64:].decode(), data[::-1])

    def test_an_allowed_host_name_is_in_the_hosts_file_and_leads_to_its_host(self):
        server = self.serve()
        self.sandbox.kernel().run(_LEADS.format(ports={"mail.example": server.port}))
        self.assertEqual(self.answer("mail.example", 993, ["web.example:80", "mail.example:993"]), b"x")
        hosts = self.sandbox.changes("context['hosts'] = open('/etc/hosts').read()", allow=["mail.example:1"])["hosts"]
        self.assertIn("mail.example", hosts)
        self.assertIn("127.0.0.1 localhost\n", hosts)

    def test_localhost_leads_to_the_machine_of_the_sandbox(self):
        server = self.serve()
        self.assertEqual(self.answer("localhost", server.port, [f"localhost:{server.port}"]), b"x")

    def test_an_allowed_address_of_another_machine_leads_to_that_machine(self):
        server = self.serve()
        self.sandbox.kernel().run(_LEADS.format(ports={"10.9.8.7": server.port, "2001:db8::7": server.port}))
        self.assertEqual(self.answer("10.9.8.7", 5432, ["10.9.8.7:5432"]), b"x")
        if socket.has_ipv6:
            self.assertEqual(self.answer("2001:db8::7", 5432, ["[2001:db8::7]:5432"]), b"x")

    @unittest.skipUnless(socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"), "needs IPv6")
    def test_an_allowed_ipv6_address_works_like_an_ipv4_address(self):
        server = self.serve(address="::1")
        self.assertEqual(self.answer("::1", server.port, [f"[::1]:{server.port}"]), b"x")

    def test_fifty_hosts_without_a_port_allow_the_usual_ports(self):
        code = f"""
import socket
{ATTEMPTS}
def knock(host, port):
    try:
        socket.create_connection((host, port), 5).close()
    except ConnectionResetError:
        pass  # the relay cannot resolve the name
    return "open"
ports = [80, 443, 25, 465, 587, 110, 995, 143, 993, 3306, 5432]
context["open"] = sorted({{attempt(lambda: knock(f"h{{n}}.invalid", port)) for n in (0, 49) for port in ports}})
context["other"] = attempt(lambda: knock("h0.invalid", 8080))
"""
        found = self.sandbox.changes(code, allow=[f"h{number}.invalid" for number in range(50)])
        self.assertEqual(found, {"open": ["'open'"], "other": "ConnectionRefusedError"})

    def test_data_that_code_sends_before_its_end_arrives(self):
        server = self.serve()
        code = "import socket\nsocket.create_connection(('127.0.0.1', context['port'])).sendall(b'y' * (1 << 20))"
        self.sandbox.run(code, {"port": str(server.port)}, allow=[f"127.0.0.1:{server.port}"])
        self.assertEqual(server.await_visits(1), [b"y" * (1 << 20)])

    def test_code_can_have_at_most_64_connections_at_the_same_time(self):
        server = self.serve()
        code = """
import socket
def connect():
    return socket.create_connection(("127.0.0.1", context["port"]), 10)
held = [connect() for _ in range(64)]
try:
    context["one_more"] = connect().recv(1) == b"" and "closed"
except ConnectionResetError:
    context["one_more"] = "closed"
for connection in held:
    connection.sendall(b"x")
    connection.shutdown(socket.SHUT_WR)
context["answers"] = "".join(connection.recv(1).decode() for connection in held)
"""
        result = self.sandbox.run(code, {"port": str(server.port)}, allow=[f"127.0.0.1:{server.port}"])
        self.assertEqual(dict(result["set"]), {"answers": f'"{"x" * 64}"', "one_more": '"closed"'})
        self.assertIn("[network] more than 64 connections at a time", result["logs"])

    def test_a_connection_to_an_unreachable_host_is_reset_and_the_log_names_the_host(self):
        result = self.failure("127.0.0.1", 1, ["127.0.0.1:1"])
        self.assertRegex(result["message"], "Connection reset|Broken pipe|reset by peer")
        self.assertIn("[network] 127.0.0.1:1 cannot be reached: Connection refused\n", result["logs"])

    def test_each_run_reaches_its_own_allowed_hosts_and_not_those_of_earlier_runs(self):
        server = self.serve()
        self.sandbox.kernel().run(_LEADS.format(ports={"10.9.8.7": server.port}))
        own, others = ["10.9.8.7:25"], ["10.9.8.8:25"]
        for allow in (own, [], None, [], own, own, others, []):
            with self.subTest(str(allow)):
                if allow == own:
                    self.assertEqual(self.answer("10.9.8.7", 25, allow), b"x")
                elif allow is None:
                    self.assertEqual(self.sandbox.changes("context['a'] = 1"), {"a": 1})
                else:
                    self.assertIn("Network is unreachable", self.failure("10.9.8.7", 25, allow)["message"])

    def test_an_allowed_host_name_of_this_machine_does_not_lead_to_this_machine(self):
        server = self.serve()
        name = next(iter(_names_of_this_machine()), None)
        if name is None:
            self.skipTest("no name leads to this machine")
        result = self.failure(name, server.port, [f"{name}:{server.port}"])
        self.assertIn("which has to be allowed by its address", result["logs"])
        self.assertEqual(server.visits, [])


def _names_of_this_machine():
    for name in ("ip6-loopback", "localhost.localdomain", socket.gethostname()):
        try:
            if {found[4][0] for found in socket.getaddrinfo(name, 1)} <= {"127.0.0.1", "127.0.1.1", "::1"}:
                yield name
        except OSError:
            continue


if __name__ == "__main__":
    unittest.main()
