"""`tools` as the code of a compiled agent sees it. The code runs from its start after each call: calls on record return
their recorded result, and the first other call ends this run of the code."""

from json import dumps, loads

from . import outcomes

_CALL_KEY = "$call"


class ToolError(Exception):
    """Raised if a tool failed, or if its arguments did not fit."""


class Called(BaseException):
    """Ends a run of the code at a call whose result is not on record yet."""


class Tools:
    """The tools of the agent, by name: `tools.look_up(id=7)` returns the values that the tool has set, as a dict."""

    ToolError = ToolError

    def __init__(self, calls):
        """`calls`: the calls on record, in order, each as [name, arguments, result, has failed]."""
        self._calls, self._at, self._end = calls, 0, None

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda **arguments: self._call(name, arguments)

    def _call(self, name, arguments):
        if self._end:
            raise Called
        text = dumps(arguments, allow_nan=False)
        if self._at == len(self._calls):
            call = dumps({"name": name, "arguments": text})
            self._end = {"status": "success", "set": [[_CALL_KEY, call]], "delete": [], "blobs": []}
            raise Called
        known, known_text, result, has_failed = self._calls[self._at]
        self._at += 1
        if (known, known_text) != (name, text):
            message = f"call {self._at} is {name}({text}), but {known}({known_text}) is on record"
            self._end = outcomes.failure(f"{message} - the code must make the same calls each time it runs")
            raise Called
        try:
            value = loads(result)
        except ValueError:
            message = f"the result of call {self._at}, {name}, is no JSON, because it was cut after max_chars or masked"
            self._end = outcomes.failure(f"{message} - raise max_chars of the agent, or let the tool return less")
            raise Called from None
        if has_failed:
            error = value.get("error") if isinstance(value, dict) else value
            raise ToolError(error.get("message") if isinstance(error, dict) else error)
        return value


def result_of(tools):
    """Returns the result of a run that ended at a call; None if the code made no new call. This is no method, because a
    tool may have any name."""
    return tools._end
