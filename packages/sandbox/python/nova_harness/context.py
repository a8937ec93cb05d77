"""`context` and `outputs` as the code sees them: dicts whose `get` follows dot paths. Blobs are fetched when the code
first reads them; all other values are parsed at the start."""

import re
from collections.abc import Mapping
from copy import deepcopy
from json import dumps, loads
from typing import NamedTuple

from .encode import decode, has_reference, load_value
from .supply import Unavailable


class Unloaded:
    """Stands for a value of a LazyContext that the code has not read yet. The repr of an Unloaded fetches the value, so
    that the repr of the dict shows the value."""

    __slots__ = ("text", "fetch")

    def __init__(self, text, fetch):
        self.text, self.fetch = text, fetch

    def __repr__(self):
        return repr(self.fetch(self.text))


_MISSING = object()


class Context(dict):
    """A dict whose `get` also takes dot paths: `get("email.subject")`, `get("items.0.name")`. A key with dots in its
    name takes precedence. Copies are plain dicts."""

    __slots__ = ()

    def get(self, key, default=None):
        if key in self:
            return self[key]
        found = _find(self, key.split(".")) if isinstance(key, str) and "." in key else _MISSING
        return default if found is _MISSING else found

    def __missing__(self, key):
        error = KeyError(key)
        if isinstance(key, str) and "." in key and self.get(key, _MISSING) is not _MISSING:
            error.cure = f"only get follows dots: write .get({key!r})"
        raise error

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return deepcopy(self.copy(), memo)

    def __reduce_ex__(self, protocol):
        return dict, (self.copy(),)

    @classmethod
    def fromkeys(cls, *args):
        return dict.fromkeys(*args)


def _find(value, steps):
    """Follows the steps of a path. Tries longer keys first; a step into a list is the number of an item."""
    if not steps:
        return value
    if isinstance(value, dict):
        for end in range(len(steps), 0, -1):
            key = ".".join(steps[:end])
            found = _find(value[key], steps[end:]) if key in value else _MISSING
            if found is not _MISSING:
                return found
    elif isinstance(value, (list, tuple)) and _INDEX.fullmatch(steps[0]) and int(steps[0]) < len(value):
        return _find(value[int(steps[0])], steps[1:])
    return _MISSING


_INDEX = re.compile("0|[1-9][0-9]{0,8}")


class LazyContext(Context):
    """A context with values that are not fetched yet. An operation on one key fetches that key. Operations on all
    values (items, |, ==, copy, pickle, json) fetch all of them and then use dict's implementation. The class defines
    `__iter__`, because C code (dict(), **, update) then calls keys() and [] instead of reading a dict's table directly.
    The class does not define `__repr__`, because pprint only formats a dict whose `__repr__` is that of dict."""

    __slots__ = ()

    def _real(self, key, value):
        if type(value) is Unloaded:
            try:
                value = value.fetch(value.text)
            except Unavailable as error:
                raise Unavailable(f'the value of "{key}" cannot be loaded: {error}') from None
            super().__setitem__(key, value)
        return value

    def _all(self):
        for key, value in super().items():
            self._real(key, value)
        return super()

    def __getitem__(self, key):
        return self._real(key, super().__getitem__(key))

    def setdefault(self, key, default=None):
        return self._real(key, super().setdefault(key, default))

    def pop(self, key, *default):
        if key in self:
            self._real(key, super().__getitem__(key))
        return super().pop(key, *default)

    def popitem(self):
        for key in reversed(self):
            return key, self.pop(key)
        return super().popitem()

    def __iter__(self):
        return super().__iter__()

    def items(self):
        return self._all().items()

    def values(self):
        return self._all().values()

    def copy(self):
        return self._all().copy()

    def __eq__(self, other):
        return self._all().__eq__(other.copy() if type(other) is LazyContext else other)

    def __ne__(self, other):
        return self._all().__ne__(other.copy() if type(other) is LazyContext else other)

    def __or__(self, other):
        return self.copy() | other if isinstance(other, dict) else NotImplemented

    def __ror__(self, other):
        return other | self.copy() if isinstance(other, dict) else NotImplemented


# Makes error messages and type() show plain dicts.
for _kind in (Context, LazyContext):
    _kind.__name__ = _kind.__qualname__ = "dict"
    _kind.__module__ = "builtins"


class Original(NamedTuple):
    """The value of a key before the code runs: its JSON text, and the parsed value or an Unloaded."""

    text: str
    value: object


class LoadedContext(NamedTuple):
    values: dict
    originals: dict


def make_context(slots, supply):
    """Builds a context from `slots`, ordered pairs of a key and its JSON text."""

    def fetch(text):
        return decode(text, lambda reference: load_value(reference, supply))

    def parse(text):
        return Unloaded(text, fetch) if has_reference(text) else decode(text, None)

    try:
        parsed = _parse_together([text for _, text in slots])
    except _Special:
        parsed = [parse(text) for _, text in slots]
    originals = {key: Original(text, value) for (key, text), value in zip(slots, parsed, strict=True)}
    values = {key: original.value for key, original in originals.items()}
    return LoadedContext(_context_of(values), originals)


def _context_of(values):
    return (LazyContext if any(type(value) is Unloaded for value in values.values()) else Context)(values)


class _Special(Exception):
    """Raised by `_parse_together` if the texts may contain references or escapes, because such texts cannot be parsed
    with one call."""


def _parse_together(texts):
    """Parses the JSON texts of all keys with one call, which is faster than one call for each key."""
    together = f"[{','.join(texts)}]"
    if "blob" in together or "\\u" in together:
        raise _Special
    return loads(together)


def raw_items(context):
    """Returns the items without fetching any value."""
    return dict.items(context)


class Outputs(Mapping):
    """The results of earlier nodes, by node. The results of each node are a context."""

    def __init__(self, supply):
        self._supply = supply
        self._known = {}
        self._names = None

    def __getitem__(self, node):
        if node not in self._known:
            text = self._supply.answer({"outputs": node}) if isinstance(node, str) else None
            if text is None:
                raise KeyError(node)
            slots = [(key, dumps(value)) for key, value in loads(text).items()]
            self._known[node] = make_context(slots, self._supply).values
        return self._known[node]

    def get(self, node, key=None, default=None):
        """Returns the results of a node, or the value of one key. A second argument that is no text is the default, as
        in the `get` of a dict."""
        if not isinstance(key, str):
            return super().get(node, default if key is None else key)
        try:
            return self[node].get(key, default)
        except KeyError:
            return default

    get_node_output = get

    def get_by_key(self, key, default=None):
        """Returns the value of the first node that has set the key."""
        return next((self[node][key] for node in self if key in self[node]), default)

    def get_flattened(self):
        """Returns all results by key. If several nodes set a key, the last one counts."""
        return self._gathered(lambda _node, key: key)

    def get_all_data(self):
        """Returns all results by `node:key`."""
        return self._gathered(lambda node, key: f"{node}:{key}")

    def _gathered(self, named):
        values = {named(node, key): value for node in self for key, value in raw_items(self[node])}
        return _context_of(values)

    def __iter__(self):
        if self._names is None:
            self._names = self._supply.answer({"outputNames": True})
        return iter(self._names)

    def __len__(self):
        return len(list(iter(self)))

    def __contains__(self, node):
        return node in self._known or node in list(self)

    def __repr__(self):
        return f"<results of {', '.join(self) or 'no node yet'}>"


class Task(NamedTuple):
    """A wait that the run reaches later. The first POST to `url` continues the run from that wait."""

    url: str


class Tasks:
    """The waits for events that the run reaches later, by node."""

    __iter__ = None

    def __init__(self, supply):
        self._supply = supply

    def __getitem__(self, node):
        url = self._supply.answer({"task": node}) if isinstance(node, str) else None
        if url is None:
            raise KeyError(f"{node}: no node of this branch, or around it, waits for an event under this name")
        return Task(url)
