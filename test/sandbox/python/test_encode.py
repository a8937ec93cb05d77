"""Tests that values are encoded exactly, or refused with their path, their type and advice on
what to store instead.
"""

import collections
import datetime
import decimal
import enum
import fractions
import io
import json
import math
import pathlib
import re
import sys
import types
import unittest
import uuid

from support import HARNESS, reference

sys.path.insert(0, HARNESS)
from nova_harness.encode import LEAF_BYTES, VALUE_BYTES, Encoder, Unfit  # noqa: E402
from nova_harness.supply import Loaded  # noqa: E402


def encode(value, key="k"):
    return Encoder(Loaded()).encode(key, value)


def imitation(module, name, *bases, **attributes):
    """Builds a type that looks like one of a library that is not installed."""
    return type(name, bases or (object,), {**attributes, "__module__": module})


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def circle():
    value = {"self": None}
    value["self"] = [value]
    return value


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    HIGH = 3


EXACT = {
    "large integers": (2**200, str(2**200)),
    "floats that look like integers": (850.0, "850.0"),
    "negative zero": (-0.0, "-0.0"),
    "the shortest text of a float": (0.1 + 0.2, "0.30000000000000004"),
    "true and one": ([True, 1, 1.0], "[true,1,1.0]"),
    "text as it is": ("é€😀 \u2028", '"é€😀 \u2028"'),
    "control characters": ('\x00\n"\\', r'"\u0000\n\"\\"'),
    "tuples as lists": ((1, (2,)), "[1,[2]]"),
    "order of keys": ({"b": 1, "a": 2}, '{"b":1,"a":2}'),
    "empty containers": ([[], {}, "", None], '[[],{},"",null]'),
    "keys that look like references": ({"$blob": 1, "$$blob": {"$blob": 2}}, '{"$$blob":1,"$$$blob":{"$$blob":2}}'),
    "keys that hardly look like references": ({"$blo": 1, "blob": 2, "$blob2": 3}, '{"$blo":1,"blob":2,"$blob2":3}'),
    "dicts of other classes": (collections.OrderedDict(a=collections.Counter("aa")), '{"a":{"a":2}}'),
    "named tuples": (collections.namedtuple("P", "x y")(1, 2), "[1,2]"),
    "numbers of an enum": (Level.HIGH, "3"),
}

NOW = datetime.datetime(2026, 1, 2)
UNFIT = {
    "nan": (math.nan, r"nan is not a JSON number.*None"),
    "infinity": ([-math.inf], r'"k\[0\]": -inf is not a JSON number'),
    "datetime": (NOW, r"datetime.datetime .*isoformat\(\)"),
    "date": (NOW.date(), r"isoformat\(\)"),
    "timedelta": (NOW - NOW, r"total_seconds\(\)"),
    "decimal": (decimal.Decimal("1.10"), r"decimal.Decimal .*str\(x\)"),
    "fraction": (fractions.Fraction(1, 3), r"float\(x\)"),
    "complex": (1j, r"x\.real"),
    "set": ({1}, r'"k": set .*sorted\(x\)'),
    "frozenset": (frozenset(), r"list\(x\)"),
    "enum": (Color.RED, r"x\.value"),
    "uuid": (uuid.UUID(int=1), r"str\(x\)"),
    "path": (pathlib.Path("a"), r"str\(x\)"),
    "open file": (io.StringIO(), r"x\.read\(\)"),
    "exception": (ValueError("x"), r"str\(x\)"),
    "function": (encode, r"call it"),
    "class": (dict, r"call it"),
    "module": (json, r"module"),
    "generator": ((n for n in ()), r"list\(x\)"),
    "range": (range(3), r"list\(x\)"),
    "dict view": ({}.items(), r"list\(x\)"),
    "mapping": (types.MappingProxyType({}), r"dict\(x\)"),
    "match": (re.match("a", "a"), r"x\.group\(\)"),
    "object": (object(), r"str\(x\), or a dict of the fields"),
    "numpy float": (imitation("numpy", "float64", float)(1.5), r"numpy\.float64 .*float\(x\)"),
    "numpy integer": (imitation("numpy", "int64")(), r"int\(x\)"),
    "numpy boolean": (imitation("numpy", "bool_")(), r"bool\(x\)"),
    "numpy text": (imitation("numpy", "str_", str)("a"), r"str\(x\)"),
    "numpy array": (imitation("numpy", "ndarray")(), r"tolist\(\)"),
    "data frame": (imitation("pandas.core.frame", "DataFrame")(), r'to_dict\("records"\)'),
    "series": (imitation("pandas.core.series", "Series")(), r"tolist\(\)"),
    "pandas time": (
        imitation("pandas._libs.tslibs.timestamps", "Timestamp", datetime.datetime)(2026, 1, 1),
        r"isoformat",
    ),
    "mail": (imitation("email.message", "EmailMessage")(), r"as_string\(\)"),
    "half a character": ("a\ud800", r"half a character \('\\ud800'\) at position 1"),
    "half a character in a key": ({"\udfff": 1}, r"the key has half a character"),
    "half a character in a long text": ("\ud800" + "a" * 5000, r"half a character"),
    "a number as a key": ({1: 2}, r"key 1 is of type int .*str\(key\)"),
    "a tuple as a key": ([{"a": {(1, 2): 3}}], r'"k\[0\]\.a": its key \(1, 2\)'),
    "bytes as a key": ({b"a": 1}, r"of type bytes"),
    "a circle": (circle(), r"contains itself"),
    "10,000 levels": (nested(10_000), r"nested more than 500 levels"),
    "a place deep inside": ({"a": [0, {"b.c": NOW}]}, r'"k\.a\[1\]\.b\.c"'),
}


class Texts(unittest.TestCase):
    def test_values_are_written_exactly(self):
        for name, (value, text) in EXACT.items():
            with self.subTest(name):
                self.assertEqual(encode(value), (text, {}))

    def test_the_error_for_a_value_that_json_cannot_contain_names_its_path_its_type_and_a_remedy(self):
        for name, (value, pattern) in UNFIT.items():
            with self.subTest(name):
                with self.assertRaises(Unfit) as caught:
                    encode(value)
                self.assertRegex(str(caught.exception), pattern)
                self.assertRegex(str(caught.exception), r'^context key "k')

    def test_a_key_of_the_context_that_is_not_a_text_is_refused(self):
        with self.assertRaisesRegex(Unfit, r"the key 1 of type int - keys are texts: use str\(key\)"):
            encode("x", key=1)

    def test_an_object_that_a_value_contains_twice_is_not_a_circular_reference(self):
        part = [1]
        self.assertEqual(encode([part, part, {"a": part}])[0], '[[1],[1],{"a":[1]}]')

    def test_an_encoder_works_after_a_failure(self):
        encoder = Encoder(Loaded())
        shared = [math.nan]
        with self.assertRaises(Unfit):
            encoder.encode("a", shared)
        shared[0] = 1
        self.assertEqual(encoder.encode("a", shared)[0], "[1]")

    def test_a_value_may_have_500_levels(self):
        self.assertEqual(encode(nested(499))[0], "[" * 500 + "]" * 500)

    def test_an_error_shortens_a_very_long_path(self):
        with self.assertRaises(Unfit) as caught:
            encode({"key" * 500: math.nan})
        self.assertLess(len(str(caught.exception)), 400)


class Blobs(unittest.TestCase):
    def assert_blob(self, found, data, kind):
        text, blobs = found
        ref = reference(data, kind)
        self.assertEqual(json.loads(text), {"$blob": ref})
        self.assertEqual(blobs[ref["sha256"]], (ref, data))

    def test_bytes_are_always_stored_in_a_blob(self):
        for value in (b"", b"\x00\xff", bytearray(b"ab"), memoryview(b"abc")):
            self.assert_blob(encode(value), bytes(value), "bytes")

    def test_a_text_of_more_than_4_kb_in_utf_8_is_stored_in_a_blob(self):
        for value, leaves in (
            ("a" * LEAF_BYTES, False),
            ("a" * (LEAF_BYTES + 1), True),
            ("é" * 2048, False),
            ("é" * 2049, True),
        ):
            with self.subTest(length=len(value)):
                if leaves:
                    self.assert_blob(encode(value), value.encode(), "text")
                else:
                    self.assertEqual(encode(value), (json.dumps(value, ensure_ascii=False), {}))

    def test_a_value_of_more_than_8_kb_is_stored_in_a_blob_as_a_whole(self):
        small, large = [1] * (VALUE_BYTES // 2 - 1), [1] * (VALUE_BYTES // 2)
        self.assertEqual(encode(small)[1], {})
        self.assert_blob(encode(large), json.dumps(large, separators=(",", ":")).encode(), "json")

    def test_bytes_inside_a_value_become_a_reference_to_a_blob(self):
        text, blobs = encode({"files": [{"name": "a.pdf", "data": b"%PDF"}]})
        ref = reference(b"%PDF", "bytes")
        self.assertEqual(json.loads(text), {"files": [{"name": "a.pdf", "data": {"$blob": ref}}]})
        self.assertEqual(list(blobs), [ref["sha256"]])

    def test_the_blob_of_a_large_value_may_contain_references(self):
        text, blobs = encode([b"%d" % n for n in range(200)])
        whole = blobs[json.loads(text)["$blob"]["sha256"]][1]
        self.assertEqual(len(blobs), 201)
        self.assertTrue(all(item["$blob"]["sha256"] in blobs for item in json.loads(whole)))

    def test_a_value_that_was_loaded_from_a_blob_is_not_hashed_again(self):
        loaded = Loaded()
        data, ref = b"x" * 10, {"sha256": "0" * 64, "bytes": 10, "type": "bytes"}
        loaded.note(data, ref)
        self.assertEqual(
            Encoder(loaded).encode("k", [data]),
            (json.dumps([{"$blob": ref}], separators=(",", ":")), {"0" * 64: (ref, None)}),
        )


if __name__ == "__main__":
    unittest.main()
