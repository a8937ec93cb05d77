"""Runs the code of a guide like a node, with `context`, json and base64."""

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
    """Runs the code of a guide, and returns the changed context. Fails if the context has a value that cannot be
    stored."""
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
    """Skips a guide whose modules this Python lacks, but always compiles its code."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"needs {', '.join(missing)}")
