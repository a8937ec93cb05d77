"""Collects the code's result: the keys that it changed, and the updates that it printed."""

from .context import Unloaded, raw_items
from .cut import cut
from .decode import decode, load_value
from .encode import LEAF_BYTES, Known, Unfit

_IMMUTABLE = (str, int, float, bool, bytes, type(None))


def collect(context, printed, encoder, supply):
    """
    Returns ({"set": [[key, text]], "delete": [keys]}, blobs). `printed` holds the updates that the code printed, if
    any.
    """
    comparison = _Comparison(context.originals, encoder, supply)
    changed, blobs = {}, {}

    def add(key, text, found):
        if key.startswith("$"):
            raise Unfit(f"context has the key {cut(repr(key), 80)} - such keys mark NOVA's references: use another name")
        changed[key] = text
        blobs.update(found)

    for key, value in raw_items(context.values):
        if not comparison.is_same_object(key, value):
            text, found = encoder.encode(key, value)
            if not comparison.is_unchanged(key, text):
                add(key, text, found)
    deleted = [key for key in context.originals if key not in context.values]
    if printed.is_explicit or not (changed or deleted):
        for key, value in printed.updates.items():
            text, found = encoder.encode(key, value)
            if printed.is_explicit or not comparison.is_unchanged(key, text):
                add(key, text, found)
        printed.is_used = True
    return {"set": list(changed.items()), "delete": [key for key in deleted if key not in changed]}, blobs


class _Comparison:
    """Compares values by their JSON text, because 1, 1.0 and True are equal in Python."""

    def __init__(self, originals, encoder, supply):
        self._originals, self._encoder, self._supply = originals, encoder, supply

    def is_same_object(self, key, value):
        if type(value) is Unloaded:
            return True
        original = self._originals.get(key) if type(key) is str else None
        return original is not None and original.value is value and type(value) in _IMMUTABLE

    def is_unchanged(self, key, text):
        """A different text may still be the same value in another notation: `850.00`, spaces, escapes."""
        original = self._originals.get(key)
        if original is None:
            return False
        return text == original.text or text == self._encoder.encode(key, self._reread(original.text))[0]

    def _reread(self, text):
        return decode(text, self._reload)

    def _reload(self, reference):
        """Keeps references to leaves, which the encoder would turn into the same references again."""
        is_leaf = reference["type"] == "bytes" or (reference["type"] == "text" and reference["bytes"] > LEAF_BYTES)
        if is_leaf:
            return Known(reference)
        if reference["type"] == "json":
            return self._reread(self._supply.blob(reference).decode("utf-8"))
        return load_value(reference, self._supply)
