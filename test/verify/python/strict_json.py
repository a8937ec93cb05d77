"""Reads strict JSON as docs/proof.md defines it."""

import json
import re

MOST_LEVELS = 64
WHOLE = re.compile(r"(0|[1-9][0-9]{0,14})")


class Refused(Exception):
    """Raised for a text that a reader has to refuse."""


class OtherNumber:
    """A number that is not a whole number of 1 to 15 digits."""


def _integer(text):
    return int(text) if WHOLE.fullmatch(text) else OtherNumber()


def _other(_):
    return OtherNumber()


def _constant(name):
    raise Refused(f"{name} is not JSON")


def _object(pairs):
    value = dict(pairs)
    if len(value) < len(pairs) or "__proto__" in value:
        raise Refused("a name is there twice, or is __proto__")
    for name in value:
        _demand_whole(name)
    return value


def _demand_whole(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refused("half of a surrogate pair") from None


def _walk(value):
    """Checks all texts in lists and objects, with a loop. The depth of the value was checked before."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            _demand_whole(one)
        elif isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, dict):
            waiting.extend(one.values())


def _demand_shallow(text):
    level = 0
    for mark in re.finditer(r'"(?:[^"\\]|\\.)*"|[][{}]', text, re.DOTALL):
        if mark[0] in "[{":
            level += 1
            if level > MOST_LEVELS:
                raise Refused("more than 64 levels")
        elif mark[0] in "]}":
            level -= 1


def parse(text):
    _demand_shallow(text)
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_float=_other, parse_constant=_constant
        )
    except (ValueError, RecursionError):
        raise Refused("not JSON") from None
    _walk(value)
    return value
