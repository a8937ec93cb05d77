"""Checks the forms of a proof file, of a head and of a step."""

import base64
import re
from datetime import datetime, timezone

from strict_json import Refused, parse

HASH = re.compile(r"[0-9a-f]{64}")
THUMBPRINT = re.compile(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")
SIGNATURE = re.compile(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]\.[A-Za-z0-9_-]{85}[AQgw]")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


def demand(condition, message):
    if not condition:
        raise Refused(message)


def is_text(value):
    return isinstance(value, str)


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_hash(value):
    return is_text(value) and HASH.fullmatch(value) is not None


def is_true(value):
    return value is True


def milliseconds(value):
    """Returns the milliseconds from 1970 to a time; None if the value is not a time."""
    if not is_text(value) or not TIME.fullmatch(value) or value < "1970":
        return None
    try:
        moment = datetime.strptime(value[:-1] + "000", "%Y-%m-%dT%H:%M:%S.%f").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    seconds = int(moment.replace(microsecond=0).timestamp())
    return seconds * 1000 + moment.microsecond // 1000


def is_time(value):
    return milliseconds(value) is not None


def is_base64(value):
    if not is_text(value):
        return False
    try:
        return base64.b64encode(base64.b64decode(value, validate=True)).decode() == value
    except ValueError:
        return False


class Fields:
    """Accepts an object with these fields. Fields named `maybe_...` may be absent. `loose` allows other fields, too."""

    def __init__(self, loose=False, **fields):
        self.loose = loose
        self.fields = fields

    def __call__(self, value):
        if not isinstance(value, dict):
            return False
        names = {name.removeprefix("maybe_") for name in self.fields}
        if not self.loose and not set(value) <= names:
            return False
        for name, form in self.fields.items():
            own = name.removeprefix("maybe_")
            if own in value:
                if not form(value[own]):
                    return False
            elif own == name:
                return False
        return True


def list_of(form, least=0, most=None):
    return lambda value: (
        isinstance(value, list)
        and len(value) >= least
        and (most is None or len(value) <= most)
        and all(form(one) for one in value)
    )


def map_of(name, form):
    return lambda value: isinstance(value, dict) and all(name(key) and form(one) for key, one in value.items())


def one_of(*values):
    return lambda value: type(value) in (str, int, bool, type(None)) and any(
        value == one and type(value) is type(one) for one in values
    )


def either(*forms):
    return lambda value: any(form(value) for form in forms)


def matches(pattern):
    return lambda value: is_text(value) and pattern.fullmatch(value) is not None


JWK = Fields(
    kty=one_of("EC"),
    crv=one_of("P-256"),
    use=one_of("sig"),
    alg=one_of("ES256"),
    x=matches(THUMBPRINT),
    y=matches(THUMBPRINT),
    kid=matches(THUMBPRINT),
    nbf=is_number,
    maybe_exp=is_number,
)
KEY_SET = Fields(keys=list_of(JWK))
WITHHELD = Fields(withheld=one_of("secret", "erased", "size"))
CONTENTS = map_of(is_text, either(Fields(text=is_text), Fields(blob=is_true), WITHHELD))


def proof_form(mode):
    entry = {"head": is_text}
    run = {"execution": is_text, "signature": matches(SIGNATURE), "maybe_erasure": matches(SIGNATURE)}
    file = {}
    step = {"text": is_text}
    if mode == "all":
        entry["contents"] = CONTENTS
        step["contents"] = CONTENTS
        run["maybe_definition"] = is_text
        file["blobs"] = map_of(is_hash, either(is_base64, WITHHELD))
    if mode != "none":
        entry["maybe_steps"] = list_of(either(Fields(**step), Fields(text=one_of(None))), 1)
    scope = Fields(scope=is_text, entries=list_of(Fields(**entry), 1))
    return Fields(
        kind=one_of("nova-proof"),
        format=one_of(1),
        execution=is_text,
        made_at=is_time,
        contents=one_of("none", "digests", "all"),
        runs=list_of(Fields(**run, scopes=list_of(scope, 1)), 1),
        inclusion=either(one_of(None), Fields(index=is_number, path=list_of(is_hash, 0, 64))),
        root=either(one_of(None), Fields(text=is_text, signature=matches(SIGNATURE))),
        stamp=either(one_of(None), Fields(token=is_base64)),
        keys=KEY_SET,
        **file,
    )


PLACE = Fields(loose=True, execution=is_text, scope=is_text, seq=is_number)
HEAD = Fields(
    loose=True,
    format=one_of(1),
    **{name: is_text for name in "execution_id scope client root workflow_id node_id node_type status timestamp".split()},
    seq=is_number,
    workflow_version=is_number,
    nodes=is_number,
    steps=list_of(is_hash),
    digests=map_of(is_text, is_hash),
    prev=either(one_of(None), is_hash),
    path_taken=either(one_of(None), is_text),
    maybe_inner=is_number,
    maybe_frozen=is_true,
    maybe_sealed=is_true,
    maybe_child=Fields(loose=True, execution=is_text, workflow=is_text, version=is_number, tip=is_hash),
    maybe_reused_from=PLACE,
    maybe_parent=PLACE,
    maybe_plan=Fields(loose=True, maybe_after=is_text),
    maybe_close=Fields(loose=True, status=is_text, count=is_number),
)
FIRST = Fields(loose=True, machine=is_text, definition=is_hash)
STEP = Fields(loose=True, maybe_digests=map_of(is_text, is_hash))


def read_text(data):
    demand(len(data) <= 2**28, "larger than 256 MB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    demand(not text.startswith("\ufeff"), "a byte order mark")
    return text


def read_keys(data):
    value = parse(read_text(data))
    demand(KEY_SET(value), "not a key set")
    return value


def has_twice(names):
    return len(set(names)) < len(names)


def read_proof(data):
    proof = parse(read_text(data))
    demand(isinstance(proof, dict) and proof_form(proof.get("contents"))(proof), "another form")
    runs = proof["runs"]
    demand(runs[0]["execution"] == proof["execution"], "another first run")
    demand(not has_twice([run["execution"] for run in runs]), "a run twice")
    for run in runs:
        demand(run["scopes"][0]["scope"] == "", "no main line")
        demand(not has_twice([scope["scope"] for scope in run["scopes"]]), "a scope twice")
    demand((proof["inclusion"] is None) == (proof["root"] is None), "half an inclusion")
    demand(proof["stamp"] is None or proof["root"] is not None, "a stamp without a root")
    demand(not has_twice([key["kid"] for key in proof["keys"]["keys"]]), "a key twice")
    return proof
