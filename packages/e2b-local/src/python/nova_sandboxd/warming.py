"""Imports packages, and the usual parts of the standard library, before code of a sandbox needs them."""

import importlib
import os
import warnings

STANDARD = (
    "asyncio base64 calendar collections concurrent.futures contextlib copy csv dataclasses datetime decimal email "
    "email.message enum fractions functools glob gzip hashlib hmac html http.client inspect io itertools json logging "
    "math mimetypes multiprocessing pathlib pickle pprint queue random re secrets shlex shutil smtplib sqlite3 ssl "
    "statistics string subprocess tempfile textwrap threading traceback typing unicodedata urllib.request uuid "
    "xml.etree.ElementTree zipfile zoneinfo"
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
