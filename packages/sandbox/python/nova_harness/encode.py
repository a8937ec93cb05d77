"""Encodes values as JSON text, and parses JSON texts. A value that JSON cannot hold exactly is an error with its path,
its type and advice on what to store instead. Large leaves become blobs. So do values that are large although none of
their leaves is. engine/context/offload.ts has the same two limits."""

import hashlib
import re
import sys
from json import dumps, loads
from json.encoder import encode_basestring
from math import isfinite

# Marks the place where a text was cut. A cut can split a secret, and the engine masks secrets later, so
# engine/secrets/redactor.ts looks for this mark.
CUT_MARK = "[...]"


def cut(text, first, last=0):
    """Returns a text shortened to its first `first` and its last `last` characters. A shorter text stays as it is."""
    if len(text) <= first + last:
        return text
    return f"{text[:first]}{CUT_MARK}{text[len(text) - last :]}"


BLOB_MARK = "$blob"
ESCAPED = re.compile(r"\$+blob")


def decode(text, load):
    """Parses a JSON text. `load(reference)` returns the value of a reference {sha256, bytes, type}. Without `load`,
    references stay plain objects."""
    if "blob" not in text and "\\u" not in text:
        return loads(text)
    return loads(text, object_pairs_hook=lambda pairs: _object(pairs, load))


def has_reference(text):
    """True if the text contains a reference. The engine writes references without escapes, so a key with escapes is
    data of the user."""
    return f'"{BLOB_MARK}"' in text


def _object(pairs, load):
    if load and len(pairs) == 1 and pairs[0][0] == BLOB_MARK and isinstance(pairs[0][1], dict):
        return load(pairs[0][1])
    return {_unescaped(key): value for key, value in pairs}


def _unescaped(key):
    return key[1:] if key.startswith("$$") and ESCAPED.fullmatch(key) else key


def load_value(reference, supply):
    """Loads the value of a reference: bytes, a text, or a JSON value, which may hold references itself."""
    data = supply.blob(reference)
    if reference["type"] == "json":
        return decode(data.decode("utf-8"), lambda inner: load_value(inner, supply))
    value = data if reference["type"] == "bytes" else data.decode("utf-8")
    supply.loaded.note(value, reference)
    return value


LEAF_BYTES = 4096
VALUE_BYTES = 8192
_DEEPEST = 500
_FEWEST_FRAMES = 4 * _DEEPEST


class Unfit(Exception):
    """Raised if a value cannot be stored as JSON."""


class Known:
    """A reference in the original text of a value. It is encoded again without loading its blob."""

    def __init__(self, reference):
        self.reference = reference


class Encoder:
    """`known.reference(leaf)` returns the reference of bytes or a text that was loaded from a blob."""

    def __init__(self, known):
        self.known = known
        self.blobs = {}
        self._path = []
        self._open = set()

    def encode(self, key, value):
        """Returns (text, {sha256: (reference, bytes)}) for the value of a key; bytes is None if the blob is stored."""
        self.blobs, self._path, self._open = {}, [key], set()
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _FEWEST_FRAMES))
        if not isinstance(key, str):
            raise Unfit(f"context has the key {cut(repr(key), 80)} of type {name_of(key)} - keys are texts: use str(key)")
        self._text_problem(key, "key")
        text = self._write(value)
        if len(text) * 4 > VALUE_BYTES and len(data := text.encode()) > VALUE_BYTES:
            text = self._blob("json", data)
        return text, self.blobs

    def _write(self, value):
        write = _WRITERS.get(type(value))
        return write(self, value) if write else self._unusual(value)

    def _unusual(self, value):
        """Encodes a value of a subclass like a value of its base class. Refuses the scalars of numpy and pandas, which
        would lose their own type, and every other value."""
        if not type(value).__module__.startswith(("numpy", "pandas")):
            for base in (str, int, float, dict, list, tuple, bytes):
                if isinstance(value, base):
                    return _WRITERS[base](self, value)
        raise self._problem(f"{name_of(value)} cannot be kept as JSON", cure_of(value))

    def _float(self, value):
        if not isfinite(value):
            raise self._problem(f"{float.__repr__(value)} is not a JSON number", "store None or a text instead")
        return float.__repr__(value)

    def _string(self, value):
        if len(value) * 4 <= LEAF_BYTES:
            self._text_problem(value, "text")
            return encode_basestring(value)
        reference = self.known.reference(value)
        if reference and reference["bytes"] > LEAF_BYTES:
            return self._reference(reference)
        self._text_problem(value, "text")
        data = value.encode()
        return self._blob("text", data) if len(data) > LEAF_BYTES else encode_basestring(value)

    def _bytes(self, value):
        reference = self.known.reference(value)
        return self._reference(reference) if reference else self._blob("bytes", bytes(value))

    def _blob(self, kind, data):
        sha256 = hashlib.sha256(data).hexdigest()
        return self._reference({"sha256": sha256, "bytes": len(data), "type": kind}, data)

    def _reference(self, reference, data=None):
        self.blobs.setdefault(reference["sha256"], (reference, data))
        return dumps({BLOB_MARK: reference}, separators=(",", ":"))

    def _list(self, value):
        self._enter(value)
        parts = []
        for index, item in enumerate(value):
            self._path.append(index)
            parts.append(self._write(item))
            self._path.pop()
        self._open.discard(id(value))
        return f"[{','.join(parts)}]"

    def _dict(self, value):
        self._enter(value)
        parts = []
        for key, item in value.items():
            if not isinstance(key, str) or type(key).__module__.startswith("numpy"):
                raise self._key_problem(key)
            self._path.append(key)
            self._text_problem(key, "key")
            escaped = f"${key}" if key.startswith("$") and ESCAPED.fullmatch(key) else key
            parts.append(f"{encode_basestring(escaped)}:{self._write(item)}")
            self._path.pop()
        self._open.discard(id(value))
        return "{" + ",".join(parts) + "}"

    def _enter(self, value):
        if id(value) in self._open:
            raise self._problem(f"this {name_of(value)} contains itself", "store a copy without the circle")
        if len(self._open) >= _DEEPEST:
            raise self._problem(f"it is nested more than {_DEEPEST} levels deep", "store it as a flat list or as text")
        self._open.add(id(value))

    def _text_problem(self, text, what):
        if text.isascii():
            return
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise self._problem(
                f"the {what} has half a character ({text[error.start]!a}) at position {error.start}",
                'use x.encode("utf-8", "replace").decode()',
            ) from None

    def _key_problem(self, key):
        return self._problem(f"its key {cut(repr(key), 80)} is of type {name_of(key)}", "JSON keys are texts: use str(key)")

    def _problem(self, what, cure):
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self._path)
        return Unfit(f'context key "{cut(path.lstrip("."), 100, 100)}": {what} - {cure}')


_WRITERS = {
    type(None): lambda _, value: "null",
    bool: lambda _, value: "true" if value else "false",
    int: lambda _, value: int.__repr__(value),
    float: Encoder._float,
    str: Encoder._string,
    bytes: Encoder._bytes,
    bytearray: Encoder._bytes,
    memoryview: Encoder._bytes,
    list: Encoder._list,
    tuple: Encoder._list,
    dict: Encoder._dict,
    Known: lambda encoder, value: encoder._reference(value.reference),
}


# Advice for values that JSON cannot hold, by type name, because looking up the types would import their modules.
_CURES = {
    "use x.isoformat()": "datetime date time Timestamp",
    "use x.total_seconds()": "timedelta",
    "use str(x) to keep every digit, or float(x)": "Decimal",
    "use str(x) or float(x)": "Fraction",
    "use [x.real, x.imag]": "complex complexfloating",
    "use sorted(x) or list(x)": "set frozenset",
    "use x.value": "Enum",
    "use str(x)": "UUID PurePath BaseException",
    "store what x.read() returns": "_IOBase",
    "call it and store what it returns": "function builtin_function_or_method method type partial",
    "store a value of it": "module",
    "use list(x)": "range dict_keys dict_values dict_items deque",
    "use dict(x)": "Mapping mappingproxy",
    'use x.to_dict("records")': "DataFrame",
    "use x.tolist()": "Series Index ndarray array",
    "use x.group()": "Match",
    "use x.as_string()": "Message EmailMessage",
    "save it to io.BytesIO() and store getvalue()": "Image",
    "store x.text, x.content or x.json()": "Response",
}
_BY_NAME = {name: cure for cure, names in _CURES.items() for name in names.split()}
_NUMPY = ("float", "int", "uint", "bool", "str")


def name_of(value):
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def cure_of(value):
    kinds = type(value).__mro__
    if kinds[0].__module__.split(".")[0] == "numpy":
        for start in _NUMPY:
            if kinds[0].__name__.startswith(start):
                return f"use {start.removeprefix('u')}(x)"
    for kind in kinds:
        if kind.__name__ in _BY_NAME:
            return _BY_NAME[kind.__name__]
    return "use list(x)" if hasattr(value, "__next__") else "store str(x), or a dict of the fields that you need"
