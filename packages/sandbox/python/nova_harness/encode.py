"""
Encodes values as JSON text. A value that JSON cannot hold exactly is an error with its path, its type and a cure. Large
leaves, and values that are large without large leaves, become blobs; engine/context/offload.ts has the same two limits.
"""

import hashlib
import sys
from json import dumps
from json.encoder import encode_basestring
from math import isfinite

from .cures import cure_of, name_of
from .cut import cut
from .decode import ESCAPED, MARK

LEAF_BYTES = 4096
VALUE_BYTES = 8192
_DEEPEST = 500
_FEWEST_FRAMES = 4 * _DEEPEST


class Unfit(Exception):
    """A value cannot be stored as JSON."""


class Known:
    """A reference from a value's original text, which is encoded again without loading its blob."""

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
        """
        Returns (text, {sha256: (reference, bytes)}) for the value of a key; bytes is None if the blob is stored
        already.
        """
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
        """Encodes a subclass as its base class, except numpy's scalars, which would lose their own type."""
        if not type(value).__module__.startswith(("numpy", "pandas")):
            for base in (str, int, float, dict, list, tuple, bytes):
                if isinstance(value, base):
                    return _WRITERS[base](self, value)
        raise self._problem(f"{name_of(value)} cannot be kept as JSON", cure_of(value))

    # --- leaves -----------------------------------------------------------------------------------

    def _null(self, _):
        return "null"

    def _boolean(self, value):
        return "true" if value else "false"

    def _integer(self, value):
        return int.__repr__(value)

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

    def _known(self, value):
        return self._reference(value.reference)

    def _blob(self, kind, data):
        sha256 = hashlib.sha256(data).hexdigest()
        return self._reference({"sha256": sha256, "bytes": len(data), "type": kind}, data)

    def _reference(self, reference, data=None):
        self.blobs.setdefault(reference["sha256"], (reference, data))
        return dumps({MARK: reference}, separators=(",", ":"))

    # --- containers -------------------------------------------------------------------------------

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

    # --- problems ---------------------------------------------------------------------------------

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
    type(None): Encoder._null,
    bool: Encoder._boolean,
    int: Encoder._integer,
    float: Encoder._float,
    str: Encoder._string,
    bytes: Encoder._bytes,
    bytearray: Encoder._bytes,
    memoryview: Encoder._bytes,
    list: Encoder._list,
    tuple: Encoder._list,
    dict: Encoder._dict,
    Known: Encoder._known,
}
