"""Parses JSON texts. References become their values, and escaped keys lose one `$`."""

import re
from json import loads

MARK = "$blob"
ESCAPED = re.compile(r"\$+blob")


def decode(text, load):
    """
    `load(reference)` returns the value of a reference {sha256, bytes, type}. Without it, references stay plain objects.
    """
    if "blob" not in text and "\\u" not in text:
        return loads(text)
    return loads(text, object_pairs_hook=lambda pairs: _object(pairs, load))


def has_reference(text):
    """The engine writes references without escapes, so a key with escapes is data of the user."""
    return f'"{MARK}"' in text


def _object(pairs, load):
    if load and len(pairs) == 1 and pairs[0][0] == MARK and isinstance(pairs[0][1], dict):
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
