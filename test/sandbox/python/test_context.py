"""Tests that `context` agrees with a plain dict in every operation, and fetches no more values
than it needs.
"""

import contextlib
import copy
import io
import json
import pickle
import pprint
import string
import sys
import unittest

from support import HARNESS, blob_text, reference

sys.path.insert(0, HARNESS)
from nova_harness.context import make_context  # noqa: E402
from nova_harness.supply import Loaded  # noqa: E402

_PDF = b"%PDF" * 10
_PAGE = json.dumps({"rows": [1, 2.50]}).encode()
SLOTS = [
    ("a", "1"),
    ("pdf", blob_text(_PDF, "bytes")),
    ("b", '{"c": [1, {"d": null}]}'),
    ("mail", f'{{"subject": "x", "files": [{blob_text(_PDF, "bytes")}, 2]}}'),
    ("page", blob_text(_PAGE, "json")),
    ("text", blob_text("é€".encode(), "text")),
]
PLAIN = {
    "a": 1,
    "pdf": _PDF,
    "b": {"c": [1, {"d": None}]},
    "mail": {"subject": "x", "files": [_PDF, 2]},
    "page": {"rows": [1, 2.5]},
    "text": "é€",
}


class FakeSupply:
    def __init__(self):
        self.loaded, self.asked = Loaded(), []

    def blob(self, ref):
        self.asked.append(ref["sha256"])
        return {reference(data, "")["sha256"]: data for data in (_PDF, _PAGE, "é€".encode())}[ref["sha256"]]


def lazy():
    supply = FakeSupply()
    context = make_context(SLOTS, supply).values
    context_type = type(context)
    assert context_type is not dict and isinstance(context, dict)
    return context, supply


def keywords(**named):
    return named


def matched(context):
    match context:
        case {"mail": {"subject": subject}, "pdf": bytes() as pdf, **rest}:
            return subject, pdf, rest
    return None


def formatted(context):
    out = io.StringIO()
    pprint.pprint(context, stream=out, width=40)
    return out.getvalue()


# Each operation takes a dict and may change it. Its result or error, and the changed dict, must be equal for a plain
# dict and for a `context`.
OPERATIONS = {
    "[]": lambda c: c["pdf"],
    "[] of an unknown key": lambda c: c["none"],
    "[] of an unhashable key": lambda c: c[[]],
    "get": lambda c: (c.get("pdf"), c.get("none"), c.get("none", 5), c.get("a")),
    "in": lambda c: ("pdf" in c, "none" in c, b"" in c),
    "len and bool": lambda c: (len(c), bool(c)),
    "iteration": lambda c: [key for key in c],
    "iteration in reverse": lambda c: list(reversed(c)),
    "keys": lambda c: (list(c.keys()), c.keys() & {"a", "zz"}, list(reversed(c.keys()))),
    "values": lambda c: list(c.values()),
    "items": lambda c: list(c.items()),
    "items in reverse": lambda c: list(reversed(c.items())),
    "unpacked items": lambda c: [*c.items()],
    "sorted": lambda c: sorted(c),
    "max by value": lambda c: max(c, key=lambda key: str(c[key])),
    "set an unloaded key": lambda c: c.__setitem__("pdf", 1),
    "set a new key": lambda c: c.__setitem__("new", [1]),
    "augmented assignment": lambda c: c.__setitem__("text", c["text"] + "!"),
    "del of an unloaded key": lambda c: c.__delitem__("pdf"),
    "del of an unknown key": lambda c: c.__delitem__("none"),
    "pop": lambda c: c.pop("pdf"),
    "pop with default": lambda c: (c.pop("none", 7), c.pop("mail", 7)),
    "pop of an unknown key": lambda c: c.pop("none"),
    "pop with too many arguments": lambda c: c.pop("a", 1, 2),
    "popitem": lambda c: c.popitem(),
    "popitem to the end": lambda c: [c.popitem() for _ in range(7)],
    "setdefault": lambda c: (c.setdefault("pdf", 1), c.setdefault("new", 2), c.setdefault("empty")),
    "update from a dict": lambda c: c.update({"pdf": 1}, z=2),
    "update from pairs": lambda c: c.update([("mail", 1)]),
    "update of another": lambda c: (d := {"a": 0, "q": 1}).update(c) or d,
    "clear": lambda c: c.clear(),
    "copy": lambda c: c.copy(),
    "copy is a dict of its own": lambda c: c.copy().pop("pdf"),
    "copy.copy": lambda c: copy.copy(c),
    "copy.deepcopy": lambda c: copy.deepcopy(c),
    "deepcopy inside a list": lambda c: copy.deepcopy([c, c]),
    "dict()": lambda c: dict(c),
    "dict() with more": lambda c: dict(c, a=3),
    "** in a literal": lambda c: {"x": 0, **c},
    "** in a call": lambda c: keywords(**c),
    "** beside others in a call": lambda c: keywords(z=1, **c),
    "|": lambda c: c | {"a": 2},
    "| from the left": lambda c: {"a": 2, "z": 1} | c,
    "| with pairs": lambda c: c | [("a", 1)],
    "|=": lambda c: c.__ior__({"pdf": 1}),
    "|= of another": lambda c: {"a": 0}.__ior__(c),
    "== equal": lambda c: (c == PLAIN, PLAIN == c, c != PLAIN, PLAIN != c),
    "== different": lambda c: (c == {**PLAIN, "pdf": b""}, {} == c, c == 1, c != []),
    "== inside a list": lambda c: [c] == [PLAIN],
    "<": lambda c: c < PLAIN,
    "hash": lambda c: hash(c),
    "repr": lambda c: repr(c),
    "str and format": lambda c: (str(c), f"{c}", "%s" % (c,)),
    "% with a mapping": lambda c: "%(text)s %(a)d" % c,
    "format with **": lambda c: "{text} {a}".format(**c),
    "format_map": lambda c: "{text} {b}".format_map(c),
    "string.Template": lambda c: string.Template("$text $a").substitute(c),
    "pprint": formatted,
    "repr inside a list": lambda c: repr([c]),
    "pickle": lambda c: pickle.loads(pickle.dumps(c)),
    "pickle, old protocols": lambda c: [pickle.loads(pickle.dumps(c, protocol)) for protocol in range(5)],
    "json.dumps": lambda c: json.dumps({key: c[key] for key in c if key not in ("pdf", "mail")}),
    "json.dumps of all": lambda c: json.dumps(c, default=lambda value: value.decode()),
    "json.dumps, sorted and indented": lambda c: json.dumps(c, default=repr, sort_keys=True, indent=1),
    "json.dump": lambda c: (out := io.StringIO(), json.dump(c, out, default=repr))[0].getvalue(),
    "json.dumps inside a list": lambda c: json.dumps([c], default=repr),
    "json.dumps of bytes": lambda c: json.dumps(c),
    "match": matched,
    "zip": lambda c: list(zip(c, c.values(), strict=True)),
    "list, tuple, set": lambda c: (list(c), tuple(c), set(c)),
    "comprehension": lambda c: {key: value for key, value in c.items() if key != "a"},
    "fromkeys": lambda c: c.fromkeys(["x"], 1),
    "isinstance": lambda c: (isinstance(c, dict), type(c).__name__),
    "no attributes": lambda c: setattr(c, "x", 1),
    "changed size while iterating": lambda c: [c.pop(key) for key in c],
    "exec with it as names": lambda c: exec("result = len(pdf)", {}, c) or c["result"],
    "type()": lambda c: type("Made", (), c).text,
    "deep mutation": lambda c: c["mail"]["files"].append(1) or c["b"]["c"].clear(),
}


def outcome(operation, mapping):
    """Returns (result, its type) of an operation, or its error as the user sees it."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            result = operation(mapping)
            return "returned", result, type(result).__name__
        except Exception as error:
            return "raised", type(error), str(error)


class DictOperations(unittest.TestCase):
    def test_each_operation_has_the_same_outcome_as_on_a_plain_dict(self):
        for name, operation in OPERATIONS.items():
            with self.subTest(name):
                plain, (context, _) = copy.deepcopy(PLAIN), lazy()
                self.assertEqual(outcome(operation, context), outcome(operation, plain))
                self.assertEqual(list(dict(context).items()), list(plain.items()))

    def test_each_operation_has_the_same_outcome_after_all_values_are_loaded(self):
        for name, operation in OPERATIONS.items():
            with self.subTest(name):
                plain, (context, _) = copy.deepcopy(PLAIN), lazy()
                list(context.items())
                self.assertEqual(outcome(operation, context), outcome(operation, plain))
                self.assertEqual(list(dict(context).items()), list(plain.items()))

    def test_a_context_without_references_behaves_like_a_plain_dict(self):
        values = make_context([("a", "1"), ("b", '["x", 1.50]')], FakeSupply()).values
        self.assertEqual(values, {"a": 1, "b": ["x", 1.5]})
        for copied in (copy.copy(values), copy.deepcopy(values), pickle.loads(pickle.dumps(values)), values | {}):
            self.assertIs(type(copied), dict)
            self.assertEqual(copied, {"a": 1, "b": ["x", 1.5]})


class DotPaths(unittest.TestCase):
    def test_get_returns_the_value_at_a_path_with_dots(self):
        slots = [*SLOTS, ("b.c", "7"), ("items", '[{"name": "x"}, {"name": null}]'), ("a b", '{"": 1}')]
        for context in (make_context(slots, FakeSupply()).values, make_context(slots[-3:], FakeSupply()).values):
            for path, value in [
                ("b.c", 7),
                ("items.0.name", "x"),
                ("items.1.name", None),
                ("items.2.name", "none"),
                ("items.-1.name", "none"),
                ("items.00.name", "none"),
                ("items.name", "none"),
                ("items.0.name.x", "none"),
                ("a b.", 1),
                ("missing.x", "none"),
                (".", "none"),
            ]:
                with self.subTest(path):
                    self.assertEqual(context.get(path, "none"), value)

    def test_get_loads_only_the_first_key_of_a_path(self):
        context, supply = lazy()
        self.assertEqual(context.get("page.rows.1"), 2.5)
        self.assertEqual(context.get("mail.subject"), "x")
        self.assertEqual(context.get("b.c.1.d", "none"), None)
        self.assertEqual(len(set(supply.asked)), 2)

    def test_a_value_that_get_returns_for_a_path_is_part_of_the_context(self):
        context, _ = lazy()
        context.get("b.c").append(3)
        self.assertEqual(context["b"]["c"][-1], 3)

    def test_a_subscript_with_a_path_raises_an_error_that_recommends_get(self):
        context, _ = lazy()
        with self.assertRaises(KeyError) as caught:
            context["mail.subject"]
        self.assertEqual(caught.exception.args, ("mail.subject",))
        self.assertIn("write .get('mail.subject')", caught.exception.cure)
        self.assertNotIn("mail.subject", context)


class Fetching(unittest.TestCase):
    def test_only_values_that_the_code_reads_are_loaded(self):
        untouched = {
            "another key": lambda c: c["a"],
            "keys": lambda c: (list(c), len(c), "pdf" in c, sorted(c)),
            "assignment": lambda c: c.update(pdf=1, mail=2, page=3, text=4),
            "deletion": lambda c: [c.__delitem__(key) for key in list(c)],
            "get of others": lambda c: (c.get("a"), c.get("none")),
            "clear": lambda c: c.clear(),
        }
        for name, operation in untouched.items():
            with self.subTest(name):
                context, supply = lazy()
                operation(context)
                self.assertEqual(supply.asked, [])

    def test_a_value_is_loaded_once(self):
        context, supply = lazy()
        self.assertIs(context["pdf"], context["pdf"])
        self.assertEqual(len(supply.asked), 1)

    def test_keys_of_users_that_look_like_references_are_data(self):
        slots = [("x", '{"$$blob": {"sha256": "a"}}'), ("y", '{"$$$blob": 1, "$blo": 2}'), ("z", '{"$\\u0062lob": {}}')]
        values = make_context(slots, FakeSupply()).values
        self.assertEqual(values, {"x": {"$blob": {"sha256": "a"}}, "y": {"$$blob": 1, "$blo": 2}, "z": {"$blob": {}}})

    def test_numbers_in_the_context_are_exact(self):
        values = make_context([("n", "[12345678901234567890123, 850.0, 1e22, -0.0]")], FakeSupply()).values
        self.assertEqual(repr(values["n"]), "[12345678901234567890123, 850.0, 1e+22, -0.0]")


if __name__ == "__main__":
    unittest.main()
