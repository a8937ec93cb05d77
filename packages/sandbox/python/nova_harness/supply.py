"""Requests blobs and other nodes' results from the daemon, when the code first reads them."""

import hashlib
import os
import threading
from json import loads

from . import wire


class Unavailable(RuntimeError):
    """Raised if a value of the context cannot be loaded."""


class Loaded:
    """Values that were loaded from blobs, so that the encoder recognises them without hashing."""

    def __init__(self):
        self._references = {}
        self.hashes = set()

    def note(self, value, reference):
        self._references[id(value)] = (value, reference)
        self.hashes.add(reference["sha256"])

    def reference(self, value):
        known = self._references.get(id(value))
        return known[1] if known else None


class Supply:
    def __init__(self):
        self._control = self._reader = self._owner = None
        self._lock = threading.Lock()
        self.loaded = Loaded()

    def open(self, control, reader):
        """Makes this process the only one that may send requests."""
        self._control, self._reader, self._owner = control, reader, os.getpid()

    def blob(self, reference):
        """Returns the bytes of a reference, and checks their hash."""
        with self._lock:
            while True:
                kind, fd = self._ask({"blob": reference})
                with open(fd, "rb") as file:
                    data = file.read()
                if kind != "blob":
                    raise Unavailable(loads(data)["error"])
                if hashlib.sha256(data).hexdigest() == reference["sha256"]:
                    return data
                wire.send(self._control, {"damaged": reference["sha256"]})
                self._refused(self._reader.read())

    def answer(self, wanted):
        """Returns the adapter's answer, a JSON value, to {"outputs": node}, {"outputNames": true} or {"task": node}."""
        with self._lock:
            _, fd = self._ask(wanted)
        with open(fd, "rb") as file:
            answer = loads(file.read())
        if "error" in answer:
            raise Unavailable(answer["error"])
        return answer["value"]

    def _ask(self, wanted):
        if os.getpid() != self._owner:
            raise Unavailable("values are loaded by the node's own process - read them before you start others")
        wire.send(self._control, {"need": wanted})
        message = self._refused(self._reader.read())
        return next(iter(message)), self._reader.files.pop(0)

    def _refused(self, message):
        if message is None:
            raise Unavailable("the sandbox's harness is gone")
        if "error" in message:
            raise Unavailable(message["error"])
        return message
