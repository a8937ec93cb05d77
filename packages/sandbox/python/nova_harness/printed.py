"""The code's stdout. It passes everything to the log except the result: the last line that is a result and that the
code's own json.dumps or json.dump produced. Other text that looks like a result, for example from a mail, is only
text."""

import contextlib
import functools
import io
import json
import re
import sys
import time
from json import dumps, loads

_dump = json.dump
_MOST_PRODUCTS = 1 << 16
_TAIL_CHARS = 1 << 16
_UPDATES, _ERROR = r"""['"]context_updates['"]\s*:""", r"""['"]status['"]\s*:\s*['"]error['"]"""
_RESULT, _SOME_UPDATES = re.compile(f"{_UPDATES}|{_ERROR}"), re.compile(rf"{_UPDATES}(?!\s*\{{\s*\}})")
_BLOCK = re.compile(r"^\{.*(?:\n(?:[ \t].*|\}.*))*", re.MULTILINE)
# A flush costs as much as a print, so the stream skips most flushes of a loop that prints fast.
_MOST_FLUSHES, _PER_SECONDS = 50, 0.1


class Stream(io.TextIOWrapper):
    """A text stream that also flushes unfinished lines, so that the log has the output of code that is killed."""

    def __init__(self, fd):
        super().__init__(open(fd, "wb", closefd=False), "utf-8", "backslashreplace", line_buffering=True)
        self._flushes_left, self._refill_at = 0, 0.0

    def write(self, text):
        count = super().write(text)
        if text and text[-1] != "\n":
            self._flush_unfinished()
        return count

    def _flush_unfinished(self):
        if (now := time.monotonic()) > self._refill_at:
            self._flushes_left, self._refill_at = _MOST_FLUSHES, now + _PER_SECONDS
        if self._flushes_left > 0:
            self._flushes_left -= 1
            self.flush()


class Printed(Stream):
    def __init__(self):
        super().__init__(1)
        self._products, self._is_own = {}, True
        self._held = ""
        self._at_start = True
        self._explicit = self._plain = ""
        self._result = None
        self._tail, self._tail_chars = [], 0

    def watch_json(self):
        """Makes json.dumps and json.dump note each text that they produce, by its hash, because a printed text does not
        show where it comes from."""
        note = self._note

        @functools.wraps(json.dumps)
        def watched_dumps(*args, **kwargs):
            text = dumps(*args, **kwargs)
            note(text)
            return text

        @functools.wraps(json.dump)
        def watched_dump(obj, fp, *args, **kwargs):
            if fp is self or fp is sys.stdout:
                fp.write(watched_dumps(obj, *args, **kwargs))
            else:
                _dump(obj, fp, *args, **kwargs)

        json.dumps, json.dump = watched_dumps, watched_dump

    def flush_before_fork(self):
        """Flushes before a fork, because otherwise both processes would write the unfinished line."""
        with contextlib.suppress(OSError, ValueError):
            self.flush()

    def pass_all_on(self):
        """Ends the search for a result, in a process that the code has forked."""
        self._is_own = False
        self._products, self._held, self._explicit, self._plain = {}, "", "", ""

    def _note(self, text):
        if self._is_own and text[:1] == "{" and text[-1:] == "}":
            self._products[hash(text)] = True
            if len(self._products) > _MOST_PRODUCTS:
                del self._products[next(iter(self._products))]

    def _is_product(self, text):
        text = text.strip()
        return text[:1] == "{" and hash(text) in self._products

    def write(self, text):
        if not self._products or not isinstance(text, str):
            if text:
                self._at_start = text[-1] == "\n"
                self._remember(text)
            return super().write(text)
        self._sift(self._held + text)
        return len(text)

    def _sift(self, text):
        """Holds back each text that may be the result, and passes all other text on to the log. A text that json.dumps
        wrote on several lines may be the result only if `text` contains nothing else."""
        self._held = ""
        if self._at_start and self._is_product(text):
            self._hold(text)
            return
        *lines, rest = text.split("\n")
        for line in lines:
            if self._at_start and self._is_product(line):
                self._hold(line + "\n")
            else:
                self._pass_on(line + "\n")
        if rest and self._at_start and self._is_product(rest):
            self._hold(rest)
        else:
            self._pass_on(rest)

    def _hold(self, text):
        if not text.endswith("\n"):
            self._held = text
        elif _is_explicit(text):
            self._explicit, former = text, self._explicit
            self._pass_on(former)
        elif text.strip() != "{}":
            self._plain, former = text, self._plain
            self._pass_on(former)
        else:
            self._pass_on(text)

    def _pass_on(self, text):
        if text:
            super().write(text)
            self._at_start = text.endswith("\n")
            self._remember(text)

    def _remember(self, text):
        if isinstance(text, str):
            self._tail.append(text[-_TAIL_CHARS:])
            self._tail_chars += len(self._tail[-1])
            if self._tail_chars > 2 * _TAIL_CHARS:
                self._tail = ["".join(self._tail)[-_TAIL_CHARS:]]
                self._tail_chars = len(self._tail[0])

    def result(self):
        if self._held:
            self._hold(self._held + "\n")
            self._held = ""
        self._result = PrintedResult(self._explicit or self._plain, bool(self._explicit))
        return self._result

    def lost_result(self, code):
        """True if the code printed a result that does not count: a dict in Python's notation, or a text that json.dumps
        did not produce. A result that reports an error or has no updates matters only at the end of the output: the
        code may have handled an earlier error, and an earlier result without updates loses nothing. A result with words
        that the code itself does not contain comes from data, such as a mail."""
        tail = "".join(self._tail)[-_TAIL_CHARS:].rstrip()
        if self._looks_lost(tail[tail.rfind("\n{") + 1 :], _RESULT, code):
            return True
        # pprint prints a dict on several lines and indents all but the first.
        return any(self._looks_lost(block[0], _SOME_UPDATES, code) for block in _BLOCK.finditer(tail))

    def _looks_lost(self, block, pattern, code):
        block = block.strip()
        if not (block.startswith("{") and block.endswith("}")) or self._is_product(block):
            return False
        found = pattern.search(block)
        return found is not None and any(word in code for word in _WORDS if word in found[0])

    def finish(self):
        """Writes text that was held back, but is not the result, to the log."""
        used = self._result.text if self._result and self._result.is_used else ""
        with contextlib.suppress(OSError, ValueError):  # The code may have closed the stream.
            for text in (self._plain, self._explicit, self._held):
                if text != used:
                    self._pass_on(text)
            self.flush()


_WORDS = ("context_updates", "status")


class PrintedResult:
    """`failure` is the message of a result with status "error"; `updates` are the keys to set."""

    def __init__(self, text, is_explicit):
        value = loads(text) if text else {}
        self.text, self.is_explicit, self.is_used = text, is_explicit, False
        self.failure = None
        self.updates = value.get("context_updates", {}) if is_explicit else value
        if is_explicit and value.get("status") == "error":
            self.is_used = True
            self.failure = str(value.get("message") or "the code reported an error without a message")


def _is_explicit(text):
    if '"context_updates"' not in text and '"error"' not in text:
        return False
    value = loads(text)
    return isinstance(value.get("context_updates"), dict) or (value.get("status") == "error" and "message" in value)
