"""What running code waits for: a blob, or an answer about other nodes. A need stays open until a file answers it."""

import itertools
import os

from .store import is_hash

_MOST_DAMAGED = 2
_LARGEST_BYTES = (1 << 53) - 1  # JavaScript's largest exact integer: the adapter reads the number


def checked(wanted):
    """What code's process asks for becomes paths and messages: only the forms that there are get that far."""
    match wanted:
        case {"blob": {"sha256": sha256, "bytes": int() as size, "type": "bytes" | "text" | "json" as kind}}:
            if is_hash(sha256) and size is not True and 0 <= size <= _LARGEST_BYTES:
                return {"blob": {"sha256": sha256, "bytes": size, "type": kind}}
        case {"outputs": str() as node}:
            return {"outputs": node}
        case {"outputNames": True}:
            return {"outputNames": True}
        case {"task": str() as node}:
            return {"task": node}
    raise ValueError("it asked for something that there is not")


class Need:
    """`wanted`: {"blob": {sha256, bytes, type}}, {"outputs": node}, {"outputNames": true} or {"task": node}."""

    def __init__(self, name, wanted):
        self.name, self.wanted, self.blob = name, wanted, wanted.get("blob")
        self.is_awaited = False

    def announcement(self):
        """Where to put what is asked for, and where to say that it cannot be had; paths below the root."""
        answer = f"answers/{self.name}"
        put = f"blobs/{self.blob['sha256']}" if self.blob else answer
        return {"type": "need", **self.wanted, "put": put, "refuse": answer}

    def take(self, store):
        """(kind, open file) of what has arrived: "blob" or "answer"; None as long as nothing has."""
        if self.blob:
            blob = store.open_blob(self.blob["sha256"], self.blob["bytes"])
            if blob is not None:
                return "blob", blob
        answer = store.open_answer(self.name)
        return None if answer is None else ("answer", answer)


class Needs:
    _names = map("{}-{}".format, itertools.repeat(os.getpid()), itertools.count())

    def __init__(self, store, announce):
        self._store, self._announce = store, announce
        self._open = {}
        self._damaged = {}
        self._given = None

    def announcements(self):
        return [need.announcement() for need in self._open.values()]

    def ask(self, wanted, is_awaited):
        """What is here already is asked of nobody."""
        key = repr(sorted(wanted.items()))
        need = self._open.get(key)
        if need is None:
            if not is_awaited and self._store.has_blob(**wanted["blob"]):
                return
            need = self._open[key] = Need(next(self._names), wanted)
            if not (need.blob and self._store.has_blob(**need.blob)):
                self._announce(need.announcement())
        need.is_awaited = need.is_awaited or is_awaited

    def is_lost(self, sha256):
        """A blob came damaged, perhaps because it was still on its way; after a few times it is given up."""
        if sha256 != self._given:
            raise ValueError("it calls a value damaged that it was not given")
        self._store.drop_blob(sha256)
        self._damaged[sha256] = self._damaged.get(sha256, 0) + 1
        return self._damaged[sha256] > _MOST_DAMAGED

    def arrived(self):
        """Closes and yields (kind, file) for each awaited need that has been answered since the last look."""
        for key, need in list(self._open.items()):
            found = need.take(self._store)
            if found:
                del self._open[key]
                if need.is_awaited:
                    self._given = need.blob and need.blob["sha256"]
                    yield found
                else:
                    os.close(found[1])
