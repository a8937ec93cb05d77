"""Tests the entries of `network.allow`."""

import os
import sys
import unittest

from support import HARNESS

sys.path.insert(0, HARNESS)
from nova_harness.relay import _resolve  # noqa: E402
from nova_harness.allow import USUAL_PORTS, Door, doors_of, hosts_file  # noqa: E402


class Entries(unittest.TestCase):
    def test_an_ip_address_stays_and_each_host_name_gets_an_address_of_its_own(self):
        self.assertEqual(
            doors_of(["10.0.0.7:5432", "a.example:443", "[2001:db8::7]:1", "localhost:2", "a.example:80", "b:3"]),
            [
                Door("10.0.0.7", 5432, "10.0.0.7"),
                Door("127.64.0.1", 443, "a.example"),
                Door("2001:db8::7", 1, "2001:db8::7"),
                Door("127.0.0.1", 2, "localhost"),
                Door("127.64.0.1", 80, "a.example"),
                Door("127.64.0.2", 3, "b"),
            ],
        )

    def test_a_host_without_a_port_allows_the_usual_ports(self):
        self.assertEqual([door.port for door in doors_of(["a.example"])], list(USUAL_PORTS))

    def test_an_entry_that_is_named_twice_counts_once(self):
        self.assertEqual(len(doors_of(["a.example:443", "a.example:443", "a.example"])), len(USUAL_PORTS))
        self.assertEqual(doors_of(["127.0.0.1:1", "localhost:1"]), [Door("127.0.0.1", 1, "127.0.0.1")])

    def test_a_host_name_never_gets_an_address_that_another_entry_allows(self):
        doors = doors_of(["127.64.0.1:443", "a.example:443", "b.example:443", "127.64.0.2:443"])
        self.assertEqual(len({door.address for door in doors}), 4)

    def test_a_host_name_with_looked_up_addresses_leads_to_these_addresses(self):
        known, other, gone = doors_of(["a.example:1", "b.example:1", "c.example:1"], {"a.example": ["10.0.0.7"], "c.example": []})
        self.assertEqual((known.addresses, other.addresses), (["10.0.0.7"], None))
        self.assertEqual([where[4] for where in _resolve(known)], [("10.0.0.7", 1)])
        with self.assertRaises(OSError):
            _resolve(gone)

    def test_a_range_leads_to_each_of_its_addresses(self):
        (door,) = doors_of(["10.1.2.3/8:5432"])
        self.assertEqual(door, Door("10.0.0.0/8", 5432, "10.0.0.0/8"))
        self.assertEqual([door.leads_to(to) for to in ("10.9.9.9", "11.0.0.1")], [True, False])
        self.assertFalse(door.is_named)
        self.assertEqual(doors_of(["[2001:db8::/32]:443"])[0].host, "2001:db8::/32")
        self.assertEqual(hosts_file(doors_of(["10.0.0.0/8"])), hosts_file([]))

    def test_a_range_that_is_invalid_or_too_large_is_refused(self):
        for entry in ("0.0.0.0/0", "10.0.0.0/7", "224.0.0.0/8", "10.0.0.0/33", "10.0.0.0/", "a.example/8", "[::/0]", "[ff00::/8]"):
            with self.subTest(entry), self.assertRaises(ValueError):
                doors_of([entry])

    def test_an_invalid_entry_is_refused(self):
        for entry in ("", "*", "*.a", "a b", "a:", "a:0", "a:x", "a:65536", "a:123456", "1.2.3", "999.1.1.1", "A", "[a]", "0.0.0.0", "240.0.0.1", 1, None):
            with self.subTest(repr(entry)), self.assertRaises(ValueError):
                doors_of([entry])

    def test_the_hosts_file_has_the_allowed_host_names_but_not_the_allowed_addresses(self):
        text = hosts_file(doors_of(["10.0.0.7", "a.example", "b.example:1"]))
        own = f"127.0.0.1 localhost\n127.0.0.1 {os.uname().nodename}\n"
        self.assertEqual(text, f"{own}127.64.0.1 a.example\n127.64.0.2 b.example\n")


if __name__ == "__main__":
    unittest.main()
