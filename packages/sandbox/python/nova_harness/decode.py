"""JSON text to values: references become what they stand for, escaped keys lose one `$`."""

import re
from json import loads

MARK = "$blob"
ESCAPED = re.compile(r"\$+blob")


def decode(text, load):
    """`load(reference)` gives the value of a reference {sha256, bytes, type}; without it nothing is a reference."""
    if "blob" not in text and "\\u" not in text:
        return loads(text)
    return loads(text, object_pairs_hook=lambda pairs: _object(pairs, load))


def has_reference(text):
    """Whoever writes references writes them plainly: a text that spells the key with escapes is somebody's data."""
    return f'"{MARK}"' in text


def _object(pairs, load):
    if load and len(pairs) == 1 and pairs[0][0] == MARK and isinstance(pairs[0][1], dict):
        return load(pairs[0][1])
    return {_unescaped(key): value for key, value in pairs}


def _unescaped(key):
    return key[1:] if key.startswith("$$") and ESCAPED.fullmatch(key) else key


def load_value(reference, supply):
    """Bytes, a text, or any JSON value, which may hold references of its own."""
    data = supply.blob(reference)
    if reference["type"] == "json":
        return decode(data.decode("utf-8"), lambda inner: load_value(inner, supply))
    value = data if reference["type"] == "bytes" else data.decode("utf-8")
    supply.loaded.note(value, reference)
    return value
