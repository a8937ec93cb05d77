"""Needs of running code: a blob, or an answer about other nodes. A need stays open until a file answers it."""

import itertools
import os

from .store import is_hash

_MOST_DAMAGED = 2
_LARGEST_BYTES = (1 << 53) - 1  # JavaScript's largest exact integer, because the adapter parses the number


def checked(wanted):
    """Returns a valid need. Raises ValueError for others, because needs become paths and messages."""
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
    """`wanted` is {"blob": {sha256, bytes, type}}, {"outputs": node}, {"outputNames": true} or {"task": node}."""

    def __init__(self, name, wanted):
        self.name, self.wanted, self.blob = name, wanted, wanted.get("blob")
        self.is_awaited = False

    def announcement(self):
        """The message to the adapter, with the paths for the value and for a refusal, relative to the root."""
        answer = f"answers/{self.name}"
        put = f"blobs/{self.blob['sha256']}" if self.blob else answer
        return {"type": "need", **self.wanted, "put": put, "refuse": answer}

    def take(self, store):
        """Returns (kind, open file) if the answer has arrived, else None. The kind is "blob" or "answer"."""
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
        """Opens a need. Does not announce it if the blob is already in the sandbox."""
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
        """Drops a damaged blob, which may still have been uploading. True after a few damaged copies."""
        if sha256 != self._given:
            raise ValueError("it calls a value damaged that it was not given")
        self._store.drop_blob(sha256)
        self._damaged[sha256] = self._damaged.get(sha256, 0) + 1
        return self._damaged[sha256] > _MOST_DAMAGED

    def arrived(self):
        """Closes needs that have been answered. Yields (kind, file) for each that the code waits for."""
        for key, need in list(self._open.items()):
            found = need.take(self._store)
            if found:
                del self._open[key]
                if need.is_awaited:
                    self._given = need.blob and need.blob["sha256"]
                    yield found
                else:
                    os.close(found[1])
