"""Loads the harness from one file, which consists of this text and a call of `offer` with all sources. Importing from a
zip archive would take twice the time, and separate files would need one upload each."""

import sys
from importlib.machinery import ModuleSpec


class Bundle:
    """Imports modules from their sources, {path: text}."""

    def __init__(self, sources, folder):
        self._sources, self._folder = sources, folder

    def find_spec(self, name, _path=None, _target=None):
        place = name.replace(".", "/")
        for path, is_package in ((f"{place}/__init__.py", True), (f"{place}.py", False)):
            if path in self._sources:
                spec = ModuleSpec(name, self, origin=f"{self._folder}/{path}", loader_state=path, is_package=is_package)
                spec.has_location = True
                return spec
        return None

    def create_module(self, _spec):
        return None

    def exec_module(self, module):
        source = self._sources[module.__spec__.loader_state]
        exec(compile(source, module.__spec__.origin, "exec", dont_inherit=True), module.__dict__)


def offer(sources, folder):
    sys.meta_path.append(Bundle(sources, folder))
