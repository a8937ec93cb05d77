"""Helpers for the Python tests of the guides. They run the code of a guide as a node does, with `context`, json and
base64."""

import base64
import importlib.util
import json
import pathlib
import re
import unittest

GUIDES = pathlib.Path(__file__).parents[4] / "packages/agents/src/knowledge/shelf/guides.md"


def blocks(guide):
    _, text = GUIDES.read_text(encoding="utf-8").split(f"<!-- {guide} -->\n")
    text = text.split("\n<!-- ")[0] + "\n"
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def run(guide, context, block=0):
    """Runs a block of code of a guide, and returns its global names, among them `context`. Fails if the context then
    has a value that JSON cannot store, other than bytes."""
    names = {"context": context, "json": json, "base64": base64, "__name__": "__main__"}
    exec(compile(blocks(guide)[block], f"{guide}.md", "exec"), names)
    json.dumps(without_bytes(context), allow_nan=False)
    return names


def without_bytes(value):
    if isinstance(value, dict):
        return {key: without_bytes(member) for key, member in value.items()}
    if isinstance(value, list):
        return [without_bytes(item) for item in value]
    return None if isinstance(value, bytes) else value


def needs(*modules):
    """Skips a test if this Python lacks one of the modules that the guide imports."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"needs {', '.join(missing)}")
