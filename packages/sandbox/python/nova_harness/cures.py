"""What to do about a value that JSON has no place for."""

import collections.abc
import datetime
import decimal
import enum
import fractions
import io
import pathlib
import types
import uuid

_BY_TYPE = [
    ((datetime.datetime, datetime.date, datetime.time), "use x.isoformat()"),
    (datetime.timedelta, "use x.total_seconds()"),
    (decimal.Decimal, "use str(x) to keep every digit, or float(x)"),
    (fractions.Fraction, "use str(x) or float(x)"),
    (complex, "use [x.real, x.imag]"),
    ((set, frozenset), "use sorted(x) or list(x)"),
    (enum.Enum, "use x.value"),
    ((uuid.UUID, pathlib.PurePath), "use str(x)"),
    (io.IOBase, "store what x.read() returns"),
    (BaseException, "use str(x)"),
    ((types.FunctionType, types.BuiltinFunctionType, types.MethodType, type), "call it and store what it returns"),
    (types.ModuleType, "store a value of it"),
    (collections.abc.Mapping, "use dict(x)"),
    (collections.abc.Iterator, "use list(x)"),
    ((range, collections.abc.KeysView, collections.abc.ValuesView, collections.abc.ItemsView), "use list(x)"),
]
_BY_NAME = {
    "DataFrame": 'use x.to_dict("records")',
    "Series": "use x.tolist()",
    "Index": "use x.tolist()",
    "ndarray": "use x.tolist()",
    "Timestamp": "use x.isoformat()",
    "Match": "use x.group()",
    "Message": "use x.as_string()",
    "EmailMessage": "use x.as_string()",
    "Image": "save it to io.BytesIO() and store getvalue()",
    "Response": "store x.text, x.content or x.json()",
}


def name_of(value):
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def cure_of(value):
    by_name = _BY_NAME.get(type(value).__name__)
    if by_name:
        return by_name
    if type(value).__module__.split(".")[0] == "numpy":
        return _numpy_cure(type(value).__name__)
    for kinds, cure in _BY_TYPE:
        if isinstance(value, kinds):
            return cure
    return "store str(x), or a dict of the fields that you need"


def _numpy_cure(name):
    for start, cure in (("float", "use float(x)"), ("int", "use int(x)"), ("uint", "use int(x)"), ("bool", "use bool(x)")):
        if name.startswith(start):
            return cure
    return "use str(x)" if name.startswith("str") else "use x.item()"
