"""Reads jobs, one JSON object per line, and prints the verdict of each job as JSON.

A job is {"file": path} with "keys" and "tsaCa" (paths) if they are given.
"""

import json
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

from proof import verify


def read(path):
    return None if path is None else Path(path).read_bytes()


for line in sys.stdin:
    job = json.loads(line)
    verdict = verify(read(job["file"]), read(job.get("keys")), read(job.get("tsaCa")))
    if verdict["stamp"]:
        moment = datetime.fromtimestamp(0, timezone.utc) + timedelta(milliseconds=verdict["stamp"].pop("ms"))
        verdict["stamp"]["at"] = moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"
    print(json.dumps(verdict))
