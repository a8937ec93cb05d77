// @module-tag deep
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entryOf, openTestCloud } from "../support/cloud.ts";

const warnings: string[] = [];
const cloud = await openTestCloud({ warn: (sentence) => warnings.push(sentence) });
const isolated = warnings.length === 0;
const hasIds = isolated && process.getuid?.() === 0;

/**
 * Resolves when the flood reports the resources that it has taken. The flood keeps these resources until all tests have
 * ended.
 */
const held = Promise.withResolvers<Record<string, number | string>>();
const over = Promise.withResolvers<void>();
const server = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk) => (text += chunk));
  request.on("end", async () => {
    held.resolve(JSON.parse(text));
    await over.promise;
    response.end("{}");
  });
});

/**
 * Code that starts as many processes as possible. For each resource that the kernel counts per user, the processes take
 * as much as they can.
 */
const flood = `
import array, ctypes, errno, fcntl, json, mmap, os, socket, select, time, urllib.request
libc = ctypes.CDLL(None, use_errno=True)
counts = mmap.mmap(-1, 4096)
kept = []
def until_full(name, take, most):
    taken, why = 0, "most"
    while taken < most:
        try:
            kept.append(take())
        except OSError as error:
            why = errno.errorcode[error.errno]
            break
        taken += 1
    held[name] = taken
    held[name + " ended by"] = why
def checked(result):
    if result < 0: raise OSError(ctypes.get_errno(), "")
    return result
held = {}
def in_flight():
    ends = socket.socketpair()
    ends[0].setblocking(False)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [ends[1].fileno()] * 250))]
    ends[0].sendmsg([b"x"], rights)
    return ends
until_full("messages of 250 descriptors", in_flight, 80)
kept.clear()
until_full("messages of 250 descriptors", in_flight, 80)
def pipe():
    ends = os.pipe()
    try: fcntl.fcntl(ends[1], 1031, 1 << 20)
    except OSError: pass
    return ends
until_full("inotify", lambda: checked(libc.inotify_init1(0)), 200)
if held["inotify"]:
    watcher = kept[-1]
    os.makedirs("w", exist_ok=True)
    def watch():
        path = f"w/{len(kept)}".encode()
        open(path, "w").close()
        return checked(libc.inotify_add_watch(watcher, path, 2))
    until_full("watches", watch, 3000)
class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_long), ("signal", ctypes.c_int), ("notify", ctypes.c_int), ("rest", ctypes.c_char * 48)]
def timer():
    identity = ctypes.c_void_p()
    return checked(libc.timer_create(1, ctypes.byref(Event(notify=1)), ctypes.byref(identity)))
until_full("timers", timer, 3000)
numbers = iter(range(1000))
rt = ctypes.CDLL("librt.so.1", use_errno=True)
until_full("queues", lambda: checked(rt.mq_open(f"/q{next(numbers)}".encode(), os.O_CREAT | os.O_RDWR, 0o600, None)), 200)
def child():
    pid = os.fork()
    if pid == 0:
        try:
            while True: kept.append(pipe())
        except OSError: pass
        time.sleep(600)
        os._exit(0)
    return pid
until_full("processes", child, 1000)
until_full("pipes", pipe, 2000)
for ends in kept[-20:]:
    for end in ends: os.close(end)
locks = open("locks", "w+b")
for place in range(0, 20_000, 2): fcntl.lockf(locks, fcntl.LOCK_EX, 1, place)
held["locks"] = 10_000
urllib.request.urlopen(context["hold"], data=json.dumps(held).encode(), timeout=300).read()
context["held"] = held
`;

/** Code that uses a little of each resource that the flood takes, as libraries do. */
const uses = `
import ctypes, fcntl, os, signal, socket, subprocess
libc = ctypes.CDLL(None, use_errno=True)
read, write = os.pipe()
left, right = socket.socketpair()
socket.send_fds(left, [b"x"], [read])
data, files, _, _ = socket.recv_fds(right, 1, 1)
context["seen"] = {
    "pipe": fcntl.fcntl(write, fcntl.F_GETPIPE_SZ) if hasattr(fcntl, "F_GETPIPE_SZ") else 65536,
    "descriptors": len(files),
    "inotify": libc.inotify_init1(0) >= 0,
    "program": subprocess.run(["echo", "there"], capture_output=True, text=True).stdout,
}
`;

let flooding: ReturnType<typeof cloud.runCode>;
beforeAll(async () => {
  if (!isolated) return;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const hold = `http://127.0.0.1:${port}/`;
  flooding = cloud.runCode(flood, {
    context: JSON.stringify({ hold }),
    node: { network: { allow: [`127.0.0.1:${port}`] }, timeout: 300 },
  });
  flooding.then((trace) => held.reject(new Error(JSON.stringify(entryOf(trace).error_message))), held.reject);
  await held.promise;
}, 120_000);
afterAll(async () => {
  over.resolve();
  if (isolated) await flooding;
  server.close();
  await cloud.close();
});

describe.runIf(isolated)("code that floods its sandbox with processes and data", () => {
  it("gets no more resources than its own sandbox may have", async () => {
    const found = await held.promise;
    expect(found).toMatchObject({
      "messages of 250 descriptors ended by": "ETOOMANYREFS",
      "inotify ended by": "EMFILE",
    });
    expect(found["messages of 250 descriptors"]).toBeLessThan(8);
    expect(found.inotify).toBe(4);
    expect(found.watches).toBeLessThanOrEqual(512);
    expect(found.timers).toBeLessThanOrEqual(256);
    expect(found.queues).toBeLessThan(2);
    expect(found.processes).toBeLessThan(150);
  });

  it("fails no other run and does not weaken the isolation of other runs", async () => {
    const code = "import socket; context['names'] = [name for _, name in socket.if_nameindex()]";
    const traces = await Promise.all([1, 2, 3].map(() => cloud.runCode(code)));
    for (const trace of traces) {
      expect(entryOf(trace).error_message).toBeNull();
      expect(JSON.parse(trace.context.text).names).toEqual(["lo"]);
    }
  });

  it.runIf(hasIds)("leaves other runs all the resources that they need", async () => {
    const trace = await cloud.runCode(uses);
    expect(entryOf(trace).error_message).toBeNull();
    const all = { pipe: 65536, descriptors: 1, inotify: true, program: "there\n" };
    expect(JSON.parse(trace.context.text).seen).toEqual(all);
  });
});

describe.runIf(hasIds)("two sandboxes on a server that runs as root", () => {
  it("run under different user ids, which no user of the host has", async () => {
    const code = "context['map'] = open('/proc/self/uid_map').read().split()";
    const maps = await Promise.all([1, 2, 3].map(async () => JSON.parse((await cloud.runCode(code)).context.text).map));
    expect(new Set(maps.map(([, outside]) => outside)).size).toBe(3);
    for (const [inside, outside, count] of maps)
      expect([inside, count, Number(outside) >= 65_536]).toEqual(["0", "65536", true]);
  });
});
