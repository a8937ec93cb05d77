"""Imports packages, and the usual parts of the standard library, before code of a sandbox needs them."""

import importlib
import os
import warnings

# A fork copies the table of all pages and mappings of its process, so the zygote of light sandboxes loads only modules
# that are small and often imported. @nova/workflow also lists the other modules: code that imports one of them does not
# get a light sandbox.
SMALL = (
    "base64 calendar collections contextlib copy csv dataclasses datetime decimal enum fractions functools glob gzip "
    "hashlib hmac inspect io itertools json logging math mimetypes multiprocessing pathlib pickle queue random re secrets "
    "shlex shutil statistics string subprocess tempfile textwrap threading time traceback typing unicodedata urllib.parse "
    "uuid zoneinfo"
).split()
LARGE = (
    "asyncio concurrent.futures email email.message html http.client pprint smtplib sqlite3 ssl urllib.request "
    "xml.etree.ElementTree zipfile"
).split()


def import_all(names):
    """Imports modules and ignores failures: if the user's code imports such a module, it gets the error itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            try:
                importlib.import_module(name)
            except Exception:  # An import can run any code, so any error is possible.
                pass


def silence():
    """Discards what packages print while they are imported. Returns a copy of the old stderr descriptor."""
    stderr = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)
    return stderr


def fork_quietly():
    """Forks without the warning that Python 3.12 gives if packages have started threads. The child has none of these
    threads, and only the child continues to work."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()
