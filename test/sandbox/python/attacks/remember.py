"""Code that searches the memory of its own process for a text of which it knows only the hash."""

import hashlib
import re

digest, remembered = context["digest"], 0  # noqa: F821
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        first, last = (int(end, 16) for end in line.split()[0].split("-"))
        if "r" not in line.split()[1] or "[v" in line:
            continue
        try:
            memory.seek(first)
            data = memory.read(last - first)
        except (OSError, OverflowError, ValueError):
            continue
        for match in re.finditer(rb"canary-[a-zA-Z]{16}", data):
            remembered += hashlib.sha256(match[0]).hexdigest() == digest
        del data
context["remembered"] = remembered  # noqa: F821
