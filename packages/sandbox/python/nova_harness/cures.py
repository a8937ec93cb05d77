"""Advice for values that JSON cannot hold, by type name, because looking up the types would import their modules."""

_CURES = {
    "use x.isoformat()": "datetime date time Timestamp",
    "use x.total_seconds()": "timedelta",
    "use str(x) to keep every digit, or float(x)": "Decimal",
    "use str(x) or float(x)": "Fraction",
    "use [x.real, x.imag]": "complex complexfloating",
    "use sorted(x) or list(x)": "set frozenset",
    "use x.value": "Enum",
    "use str(x)": "UUID PurePath BaseException",
    "store what x.read() returns": "_IOBase",
    "call it and store what it returns": "function builtin_function_or_method method type partial",
    "store a value of it": "module",
    "use list(x)": "range dict_keys dict_values dict_items deque",
    "use dict(x)": "Mapping mappingproxy",
    'use x.to_dict("records")': "DataFrame",
    "use x.tolist()": "Series Index ndarray array",
    "use x.group()": "Match",
    "use x.as_string()": "Message EmailMessage",
    "save it to io.BytesIO() and store getvalue()": "Image",
    "store x.text, x.content or x.json()": "Response",
}
_BY_NAME = {name: cure for cure, names in _CURES.items() for name in names.split()}
_NUMPY = {
    "float": "use float(x)",
    "int": "use int(x)",
    "uint": "use int(x)",
    "bool": "use bool(x)",
    "str": "use str(x)",
}


def name_of(value):
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def cure_of(value):
    kinds = type(value).__mro__
    if kinds[0].__module__.split(".")[0] == "numpy":
        for start, cure in _NUMPY.items():
            if kinds[0].__name__.startswith(start):
                return cure
    for kind in kinds:
        if kind.__name__ in _BY_NAME:
            return _BY_NAME[kind.__name__]
    return "use list(x)" if hasattr(value, "__next__") else "store str(x), or a dict of the fields that you need"
