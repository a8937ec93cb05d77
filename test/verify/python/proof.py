"""A second verifier of proof files, written from docs/proof.md alone."""

import base64
import hashlib
import json
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from forms import FIRST, HEAD, STEP, has_twice, milliseconds, read_keys, read_proof  # noqa: F401
from stamp import StampRefused, check_token
from strict_json import Refused, parse

TOLERANCE_MS = 300_000


class Broken(Exception):
    def __init__(self, code, **place):
        super().__init__(code)
        self.code = code
        self.place = place


def sha256(data):
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def from_url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Entry:
    def __init__(self, head, text, place):
        self.head, self.hash, self.place = head, sha256(text), place

    @property
    def is_fork(self):
        return self.head["path_taken"] == self.head["node_id"] + ".join"

    def inner(self):
        return self.head.get("inner", 0)


class Keys:
    def __init__(self, own, given):
        trusted = {key["kid"]: key for key in (given or own)["keys"]}
        self.known = {}
        for key in own["keys"]:
            other = trusted.get(key["kid"])
            if other and other["x"] == key["x"] and other["y"] == key["y"]:
                self.known[key["kid"]] = other

    def misfit(self, signature, text, time=None, has_time=True):
        kid, value = signature.split(".")
        key = self.known.get(kid)
        if key is None:
            return "key"
        member = '{"crv":"P-256","kty":"EC","x":"%s","y":"%s"}' % (key["x"], key["y"])
        if hashlib.sha256(member.encode()).digest() != from_url(kid):
            return "key"
        x, y = (int.from_bytes(from_url(key[name]), "big") for name in "xy")
        try:
            public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        except ValueError:
            return "key"
        both = from_url(value)
        r, s = int.from_bytes(both[:32], "big"), int.from_bytes(both[32:], "big")
        try:
            public.verify(utils.encode_dss_signature(r, s), text.encode(), ec.ECDSA(SHA256()))
        except InvalidSignature:
            return "signature"
        if has_time:
            moment = milliseconds(time)
            is_late = "exp" in key and moment is not None and moment >= key["exp"] * 1000 + TOLERANCE_MS
            if moment is None or moment < key["nbf"] * 1000 - TOLERANCE_MS or is_late:
                return "period"
        return None


def verify(data, keys=None, authorities=None):
    """Returns the verdict as a dict. `keys` and `authorities` are bytes of trusted files."""
    verdict = {"state": "broken", "execution": None, "covers": [], "names": [], "entries": 0, "signed_at": None}
    verdict.update(contents={"checked": 0, "withheld": 0, "erased": 0}, root=None, stamp=None)
    verdict["keys"] = "from the file" if keys is None else "given"
    given = read_keys(keys) if keys is not None else None
    try:
        try:
            proof = read_proof(data)
        except Refused:
            raise Broken("file") from None
        verdict["execution"] = proof["execution"]
        covered = _check(proof, Keys(proof["keys"], given), authorities, verdict)
        verdict.update(covered, state="valid")
    except Broken as broken:
        verdict["problem"] = {"code": broken.code, **broken.place}
    return verdict


def _check(proof, keys, authorities, verdict):
    runs = []
    for run in proof["runs"]:
        runs.append(_check_entries(proof, run, verdict))
    for run in runs:
        _check_joins(run)
    for run in runs:
        _check_end(run, keys)
    _check_children(runs)
    _check_blobs(proof)
    close = runs[0].main[-1]
    root = _check_root(proof, close.hash, keys)
    stamp = _check_stamp(proof, root, authorities)
    covers = [run.execution for run in runs]
    return {
        "covers": covers,
        "names": _names(runs, covers),
        "signed_at": close.head["timestamp"],
        "root": root,
        "stamp": stamp,
    }


class Run:
    def __init__(self, file):
        self.file = file
        self.execution = file["execution"]
        self.scopes = {}
        self.tips = {}
        self.votes = {}

    @property
    def main(self):
        return self.scopes[""]

    def entries(self):
        for entries in self.scopes.values():
            yield from entries


SEGMENT = re.compile(r"/([^/@]+)@(0|[1-9][0-9]{0,14})\.([^/.]+)")
CONSTANT = ["client", "root", "workflow_id", "workflow_version", "frozen", "sealed"]


def _find_fork(run, scope):
    parent = scope[: max(scope.rfind("/"), 0)]
    match = SEGMENT.fullmatch(scope[len(parent) :])
    if not match or parent not in run.scopes:
        return None, None
    index = int(match[2]) - (0 if parent == "" else 1)
    entries = run.scopes[parent]
    if not 0 <= index < len(entries):
        return None, None
    fork = entries[index]
    return (fork, match[3]) if fork.head["node_id"] == match[1] and fork.is_fork else (None, None)


def _find_voted(run, scope):
    """Returns the approval whose votes are in the scope; None if the scope contains no votes."""
    parent = scope[: max(scope.rfind("/"), 0)]
    match = SEGMENT.fullmatch(scope[len(parent) :])
    if not match or match[3] != "(votes)" or parent not in run.scopes:
        return None
    index = int(match[2]) - (0 if parent == "" else 1)
    entries = run.scopes[parent]
    entry = entries[index] if 0 <= index < len(entries) else None
    is_voted = entry is not None and entry.head["node_id"] == match[1] and entry.head["node_type"] == "approval"
    return entry if is_voted else None


def _find_before(run, entry):
    """Returns the entry before an entry. For the first entry of a scope, this is the fork that opened the scope."""
    scope, seq = entry.place["scope"], entry.place["seq"]
    index = seq - 1 - (1 if scope else 0)
    return run.scopes[scope][index] if index >= 0 else _find_fork(run, scope)[0]


def _check_entries(proof, file, verdict):
    run = Run(file)
    for scope in file["scopes"]:
        name = scope["scope"]
        checked = []
        for index, entry in enumerate(scope["entries"]):
            place = {"execution": run.execution, "scope": name, "seq": index + (1 if name else 0)}
            try:
                head = parse(entry["head"])
            except Refused:
                raise Broken("head", **place) from None
            if not HEAD(head) or (place["seq"] == 0 and not FIRST(head)):
                raise Broken("head", **place)
            if (head["execution_id"], head["scope"], head["seq"]) != tuple(place.values()):
                raise Broken("place", **place)
            before, branch = (checked[-1], None) if checked else (None, None)
            voted = _find_voted(run, name)
            if index == 0 and voted is not None:
                before, branch = _find_before(run, voted), voted.head["node_id"]
                if before is None:
                    raise Broken("branch", **place)
                run.votes[id(voted)] = checked
            elif index == 0 and name:
                before, branch = _find_fork(run, name)
                if before is None:
                    raise Broken("branch", **place)
            if (head["node_type"] == "vote") != (voted is not None):
                raise Broken("branch", **place)
            if index == 0 and name and voted is None:
                run.tips.setdefault(id(before), []).append(checked)
            _check_fit(head, before, branch, place)
            _check_contents(proof, file, entry, head, place, verdict["contents"])
            checked.append(Entry(head, entry["head"], place))
            verdict["entries"] += 1
        run.scopes[name] = checked
    return run


def _check_fit(head, before, branch, place):
    close = head.get("close")
    if before is not None and "close" in before.head:
        raise Broken("close", **place)
    if (head["node_type"] == "close") != ("close" in head):
        raise Broken("close", **place)
    if close is not None:
        is_last = place["scope"] == "" and place["seq"] > 0 and close["count"] == head["seq"] + 1 + head.get("inner", 0)
        if not is_last or (close["status"] == "completed" and before.head["node_type"] != "end"):
            raise Broken("close", **place)
    if head["prev"] != (before.hash if before else None):
        raise Broken("prev", **place)
    if before is None:
        return
    if any(head.get(name) != before.head.get(name) for name in CONSTANT):
        raise Broken("constant", **place)
    if close is not None or (branch is not None and re.fullmatch("[0-9]+", branch)):
        return
    if head["node_id"] != (before.head["path_taken"] if branch is None else branch):
        raise Broken("edge", **place)


def _check_contents(proof, run, entry, head, place, counts):
    if proof["contents"] == "none":
        return
    steps = entry.get("steps", [])
    if len(steps) != len(head["steps"]):
        raise Broken("steps", **place)
    parts = [(head["digests"], entry.get("contents"))]
    for step, digest in zip(steps, head["steps"]):
        if step["text"] is None:
            if "erasure" not in run:
                raise Broken("steps", **place)
            counts["erased"] += 1
            continue
        if sha256(step["text"]) != digest:
            raise Broken("steps", **place)
        try:
            value = parse(step["text"])
        except Refused:
            raise Broken("steps", **place) from None
        if not STEP(value):
            raise Broken("steps", **place)
        parts.append((value.get("digests", {}), step.get("contents")))
    if proof["contents"] != "all":
        return
    for digests, contents in parts:
        if set(digests) != set(contents):
            raise Broken("contents", **place)
        for name, content in contents.items():
            if "withheld" in content:
                is_erased = content["withheld"] == "erased"
                counts["erased" if is_erased else "withheld"] += 1
                if is_erased and "erasure" not in run:
                    raise Broken("contents", **place)
                continue
            counts["checked"] += 1
            if "blob" in content:
                if not isinstance(proof["blobs"].get(digests[name]), str):
                    raise Broken("contents", **place)
            elif sha256(content["text"]) != digests[name]:
                raise Broken("contents", **place)


def _check_joins(run):
    for scope, entries in run.scopes.items():
        first = 1 if scope else 0
        for index in range(len(entries) + 1):
            before = entries[index - 1] if index > 0 else None
            entry = entries[index] if index < len(entries) else None
            place = {"execution": run.execution, "scope": scope, "seq": index + first}
            tips = [branch[-1] for branch in run.tips.get(id(before), [])] if before else []
            is_join = before is not None and before.is_fork and entry is not None and entry.head["node_type"] == "join"
            if tips and not is_join:
                raise Broken("join", **place)
            if entry is None or place["seq"] == 0:
                continue
            inner = before.inner() if before else 0
            votes = [votes[-1] for votes in [run.votes.get(id(entry))] if votes]
            if entry.inner() != inner + sum(tip.head["seq"] + tip.inner() for tip in tips + votes):
                raise Broken("join", **place)
            told = entry.head["digests"].get("branches")
            if entry.head["node_type"] == "approval" and told != (_list_hash(votes) if votes else None):
                raise Broken("join", **place)
            if not is_join:
                continue
            is_listed = told == _list_hash(tips)
            if not is_listed or entry.head["nodes"] != before.head["nodes"] + sum(tip.head["nodes"] for tip in tips):
                raise Broken("join", **place)


def _list_hash(tips):
    ends = [{"scope": tip.place["scope"], "seq": tip.place["seq"], "hash": tip.hash} for tip in tips]
    return sha256(json.dumps(ends, separators=(",", ":"), ensure_ascii=False))


def _check_end(run, keys):
    place = {"execution": run.execution}
    first, last = run.main[0], run.main[-1]
    if "close" not in last.head:
        raise Broken("end", **place)
    definition = run.file.get("definition")
    if definition is not None and sha256(definition) != first.head["definition"]:
        raise Broken("definition", **place)
    misfit = keys.misfit(run.file["signature"], "nova close v1\n" + last.hash, last.head["timestamp"])
    if misfit:
        raise Broken(misfit, **place)
    if "erasure" in run.file:
        if keys.misfit(run.file["erasure"], "nova erasure v1\n" + run.execution, has_time=False):
            raise Broken("erasure", **place)


def _check_children(runs):
    places = {run.execution: index for index, run in enumerate(runs)}
    named = {0}
    for index, run in enumerate(runs):
        for entry in run.entries():
            child = entry.head.get("child")
            if child is None:
                continue
            reused = entry.head.get("reused_from")
            place = places.get(child["execution"])
            if place is None:
                if reused is None:
                    raise Broken("child", **entry.place)
                continue
            if index < place:
                named.add(place)
            first, last = runs[place].main[0].head, runs[place].main[-1]
            starter = reused or entry.place
            parent = first.get("parent", {})
            is_started = (
                all(parent.get(name) == starter[name] for name in ("execution", "scope", "seq"))
                and first["workflow_id"] == child["workflow"]
                and first["workflow_version"] == child["version"]
                and first["client"] == entry.head["client"]
                and first["root"] == entry.head["root"]
                and last.hash == child["tip"]
            )
            if not is_started:
                raise Broken("child", **entry.place)
    for index, run in enumerate(runs):
        if index not in named:
            raise Broken("extra", execution=run.execution)


def _names(runs, covers):
    names = []
    for run in runs:
        for entry in run.entries():
            found = []
            if entry.place["seq"] == 0:
                found.append((entry.head.get("plan", {}).get("after"), "restarts"))
            found.append((entry.head.get("reused_from", {}).get("execution"), "reuses"))
            found.append((entry.head.get("child", {}).get("execution"), "child missing"))
            for execution, relation in found:
                name = {"execution": execution, "relation": relation}
                if execution is not None and execution not in covers and name not in names:
                    names.append(name)
    return names


NAME = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


def _check_blobs(proof):
    blobs = proof.get("blobs", {})
    texts = []
    for name, blob in blobs.items():
        if isinstance(blob, str):
            data = base64.b64decode(blob)
            if sha256(data) != name:
                raise Broken("blobs")
            texts.append(data)
        elif blob["withheld"] == "erased" and not any("erasure" in run for run in proof["runs"]):
            raise Broken("blobs")
    if not blobs:
        return
    for run in proof["runs"]:
        texts.append(run.get("definition", "").encode())
        for scope in run["scopes"]:
            for entry in scope["entries"]:
                parts = [entry, *entry.get("steps", [])]
                texts.append(entry["head"].encode())
                texts.extend((step["text"] or "").encode() for step in entry.get("steps", []))
                for part in parts:
                    texts.extend(content.get("text", "").encode() for content in part.get("contents", {}).values())
    named = {name.decode() for text in texts for name in NAME.findall(text)}
    if not set(blobs) <= named:
        raise Broken("blobs")


ROOT = re.compile(
    r'\{"format":1,"number":([1-9][0-9]{0,14}),"size":([1-9][0-9]{0,14}),"tree":"([0-9a-f]{64})",'
    r'"at":"([^"]*)","previous":(null|"[0-9a-f]{64}")\}'
)


def _check_root(proof, close, keys):
    root, inclusion = proof["root"], proof["inclusion"]
    if root is None:
        return None
    match = ROOT.fullmatch(root["text"])
    if not match or milliseconds(match[4]) is None or (match[1] == "1") != (match[5] == "null"):
        raise Broken("root")
    if keys.misfit(root["signature"], "nova root v1\n" + root["text"], match[4]):
        raise Broken("root")
    if _tree(close, inclusion["index"], int(match[2]), inclusion["path"]) != match[3]:
        raise Broken("inclusion")
    return {"number": int(match[1]), "at": match[4]}


def _tree(leaf, index, size, path):
    if index >= size:
        return None
    fn, sn = index, size - 1
    node = hashlib.sha256(b"\x00" + bytes.fromhex(leaf)).digest()
    for other in map(bytes.fromhex, path):
        if sn == 0:
            return None
        if fn & 1 or fn == sn:
            node = hashlib.sha256(b"\x01" + other + node).digest()
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            node = hashlib.sha256(b"\x01" + node + other).digest()
        fn, sn = fn >> 1, sn >> 1
    return node.hex() if sn == 0 else None


def _check_stamp(proof, root, authorities):
    if proof["stamp"] is None:
        return None
    try:
        moment = check_token(base64.b64decode(proof["stamp"]["token"]), proof["root"]["text"], authorities)
    except StampRefused:
        raise Broken("stamp") from None
    if moment < milliseconds(root["at"]) - TOLERANCE_MS:
        raise Broken("stamp")
    return {"ms": moment, "trusted": authorities is not None}
