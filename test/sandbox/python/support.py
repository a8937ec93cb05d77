"""A sandbox without E2B: a folder with the harness, and processes that run cells as a kernel does."""

import base64
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

HARNESS = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../packages/sandbox/python"))
_END = "end of cell"
_KERNEL = f"""
import json, runpy, sys, traceback
runpy.run_path(sys.argv[1] + "/harness.py")
scope = {{}}
for line in sys.stdin:
    try:
        exec(json.loads(line), scope)
    except BaseException:
        traceback.print_exc()
    print({_END!r}, flush=True)
"""

_ONE_USERS_ROOT = ["unshare", "--user", "--map-root-user", "--mount"]
_AS_SOMEBODY = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
# The sandbox of an ordinary user has one user id, which is root inside.
ONE_USER = {**_AS_SOMEBODY, "prefix": _ONE_USERS_ROOT}


def bundle(root):
    """The harness as the adapter uploads it."""
    sources = {}
    for name in sorted(os.listdir(f"{HARNESS}/nova_harness")):
        if name.endswith(".py"):
            with open(f"{HARNESS}/nova_harness/{name}") as file:
                sources[f"nova_harness/{name}"] = file.read()
    with open(f"{HARNESS}/bundle.py") as file:
        return f"{file.read()}\n\noffer({json.dumps(sources)}, {json.dumps(root)})\n"


def reference(data, kind):
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data), "type": kind}


def blob_text(data, kind):
    return json.dumps({"$blob": reference(data, kind)})


def marked_processes(mark):
    """Returns the ids of the processes with MARK=<mark> in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environment:
                if f"MARK={mark}".encode() in environment.read().split(b"\0"):
                    found.append(int(pid))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def one_marked_process(mark, seconds=10):
    """Like `marked_processes`, but waits for a new process: Linux shows its environment a moment later."""
    deadline = time.monotonic() + seconds
    while not (found := marked_processes(mark)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def a_python_for_everybody():
    """Returns an interpreter that an unprivileged user may run, or None."""
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            subprocess.run([python, "-c", ""], user=65534, capture_output=True, check=True)
            return python
        except (OSError, subprocess.CalledProcessError):
            continue
    return None


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return list(map(int, file.read().split()))


def one_user_may_build_walls():
    return subprocess.run([*_ONE_USERS_ROOT, "true"], **_AS_SOMEBODY, capture_output=True).returncode == 0


class Kernel:
    def __init__(self, root, python, prefix=(), **how):
        self.root = root
        self.process = subprocess.Popen(
            [*prefix, python, "-c", _KERNEL, root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
            **how,
        )

    def begin(self, name):
        """Starts a cell; `lines` yields its output."""
        self.tell(f"import nova_harness; nova_harness.attach({name!r}, {self.root!r})")

    def tell(self, code):
        self.process.stdin.write(json.dumps(code) + "\n")
        self.process.stdin.flush()

    def run(self, code):
        self.tell(code)
        return list(self.lines())

    def lines(self):
        while (line := self.process.stdout.readline().rstrip("\n")) != _END:
            if not line and self.process.poll() is not None:
                raise ChildProcessError("the kernel has ended")
            yield line

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Sandbox:
    """A sandbox that answers the requests of code for values (needs) from `blobs` (contents by hash) and `outputs`
    (texts by node)."""

    def __init__(self, lib=None, python=sys.executable, **how):
        self.root = tempfile.mkdtemp(prefix="nova-sandbox-")
        self.outside = "/run" if os.access("/run", os.W_OK) else "/tmp"
        self.python, self.how = python, how
        with open(f"{self.root}/harness.py", "w") as file:
            file.write(bundle(self.root))
        for name in ("inputs", "lib"):
            os.mkdir(f"{self.root}/{name}")
        for name, text in (lib or {}).items():
            with open(f"{self.root}/lib/{name}", "w") as file:
                file.write(text)
        os.chmod(self.root, 0o755)
        if "user" in how:
            for folder, _, files in os.walk(self.root):
                for path in [folder, *(os.path.join(folder, name) for name in files)]:
                    os.chown(path, how["user"], how["user"])
        self.blobs, self.outputs, self.urls, self.served, self.kernels = {}, {}, {}, [], []
        self.links = 0

    def kernel(self):
        kernel = Kernel(self.root, self.python, **self.how)
        self.kernels.append(kernel)
        return kernel

    def write_input(self, header, body):
        name = uuid.uuid4().hex
        path = f"{self.root}/inputs/{name}"
        with open(path, "w") as file:
            file.write(json.dumps(header) + "\n" + json.dumps(body))
        if "user" in self.how:
            os.chown(path, self.how["user"], self.how["user"])
        return name

    def begin(
        self,
        code,
        context=(),
        *,
        kernel=None,
        link=None,
        execution="exec_1",
        step=0,
        attempt=1,
        timeout=20,
        ahead=(),
        environment=None,
        allow=None,
        near=(),
        last=False,
    ):
        """
        Starts a run, and returns the kernel and the nonce for `finish`. `context` has JSON texts by key. `allow` gives
        the run its own network with these hosts. `near` lists the addresses on this machine to which the run may
        connect. `last` says that the execution expects no further run in this sandbox.
        """
        self.links += 1
        kernel = kernel or (self.kernels[0] if self.kernels else self.kernel())
        nonce = uuid.uuid4().hex
        header = {"format": 1, "op": "run", "nonce": nonce, "link": link or f"link-{self.links}", "step": step}
        header.update(attempt=attempt, timeoutSeconds=timeout, ahead=list(ahead), execution=execution)
        body = {"code": code, "fileName": "nodes/some.py", "context": list(dict(context).items())}
        body["environment"] = environment or {}
        if near:
            header["near"] = list(near)
        if last:
            header["last"] = True
        if allow is not None:
            header["network"] = body["network"] = {"allow": allow}
        kernel.begin(self.write_input(header, body))
        return kernel, nonce

    def answers(self, kernel, nonce):
        for line in kernel.lines():
            mark, _, text = line.partition(" ")
            if mark != nonce:
                raise AssertionError(f"a foreign line on the kernel's stdout: {line!r}")
            yield json.loads(text)

    def finish(self, begun, serve=True):
        """Returns the last answer of a run. Answers requests of its code for values (needs) unless `serve` is false."""
        last = None
        for answer in self.answers(*begun):
            if answer["type"] == "need":
                if serve:
                    self.serve(answer)
            else:
                last = answer
        return self.whole(last)

    def whole(self, answer):
        if answer and answer["type"] == "outcome":
            with open(f"{self.root}/{answer['path']}") as file:
                return json.load(file)
        return answer

    def serve(self, need):
        if "blob" in need:
            sha256 = need["blob"]["sha256"]
            self.served.append(sha256)
            if sha256 in self.blobs:
                return self.put(need["put"], self.blobs[sha256])
            return self.put(need["refuse"], b'{"error": "it was erased"}\n')
        value = list(self.outputs) if "outputNames" in need else self.outputs.get(need.get("outputs"))
        if "task" in need:
            value = self.urls.get(need["task"])
        return self.put(need["put"], json.dumps({"value": value}).encode() + b"\n")

    def put(self, path, data):
        with open(f"{self.root}/{path}", "wb") as file:
            file.write(data)

    def run(self, code, context=(), **options):
        """Returns the result {status, ...} with `logs` and `durationMs`."""
        answer = self.finish(self.begin(code, context, **options))
        return {**answer["result"], "logs": answer["logs"], "durationMs": answer["durationMs"]}

    def changes(self, code, context=(), **options):
        """Returns the changed values of a success; raises an error with the code's failure."""
        result = self.run(code, context, **options)
        if result["status"] != "success":
            raise AssertionError(f"{result['message']}\n{result['traceback']}\n{result['logs']}")
        return {key: self.value(result, json.loads(text)) for key, text in result["set"]}

    def value(self, result, value):
        """Replaces references by their values."""
        if isinstance(value, dict) and list(value) == ["$blob"]:
            return self.content(result, value["$blob"])
        if isinstance(value, dict):
            return {key: self.value(result, item) for key, item in value.items()}
        return [self.value(result, item) for item in value] if isinstance(value, list) else value

    def content(self, result, ref):
        data = self.read_blob(ref["sha256"])
        assert reference(data, ref["type"]) == ref
        inline = next(blob.get("data") for blob in result["blobs"] if blob["sha256"] == ref["sha256"])
        assert inline is None or base64.b64decode(inline) == data
        if ref["type"] == "json":
            return self.value(result, json.loads(data))
        return data if ref["type"] == "bytes" else data.decode()

    def read_blob(self, sha256):
        with open(f"{self.root}/blobs/{sha256}", "rb") as file:
            return file.read()

    def keep(self, data, kind):
        """Adds a blob that the code can request; returns the text of its reference."""
        ref = reference(data, kind)
        self.blobs[ref["sha256"]] = data
        return blob_text(data, kind)

    def stop(self, link, step=0, attempt=1, kernel=None):
        nonce = uuid.uuid4().hex
        header = {"format": 1, "op": "stop", "nonce": nonce, "link": link, "step": step, "attempt": attempt}
        kernel = kernel or self.kernel()
        kernel.begin(self.write_input(header, None))
        return self.finish((kernel, nonce))

    def daemon_pid(self):
        with open(f"{self.root}/daemon.pid") as file:
            return int(file.read())

    def inits(self):
        """Returns the children of the zygote."""
        return [init for child in children_of(self.daemon_pid()) for init in children_of(child)]

    def close(self):
        for kernel in self.kernels:
            kernel.close()
        # There is no daemon, or the test has already ended the daemon.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(self.daemon_pid(), signal.SIGKILL)
        shutil.rmtree(self.root, ignore_errors=True)
