"""Imports ahead of time: the packages, and the parts of the standard library that code uses."""

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
    """A failure here occurs again, visibly, in the user's code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            try:
                importlib.import_module(name)
            except Exception:  # an import can run any code
                pass


def silence():
    """Silences the output of packages. Returns the descriptor that was stderr."""
    stderr = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)
    return stderr


def fork_quietly():
    """Python 3.12 warns about forks beside threads; the successor, which is the child, has no threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()
