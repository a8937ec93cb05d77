import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type RunRequest, StoreUnavailable } from "@nova/engine";
import { createSandboxes } from "@nova/sandbox";
import { describe, expect, test } from "vitest";
import { Bench, changesOf, eventually } from "./support/bench.ts";
import { MemoryIo } from "./support/memory-io.ts";

const bench = Bench.use();

/** Code that runs until its blob is served, so that a test can act meanwhile. */
const waiting = "import random\nlen(context['held'])\ncontext['once'] = random.random()";

/** Serves blobs only once `open` is called. */
class HeldIo extends MemoryIo {
  asked = 0;
  open: () => void = () => undefined;
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });

  override async openBlob(ref: Parameters<MemoryIo["openBlob"]>[0]) {
    this.asked++;
    await this.#opened;
    return super.openBlob(ref);
  }
}

function held() {
  const io = new HeldIo();
  return { io, request: bench.request(waiting, { held: io.keep("x".repeat(5000), "text") }) };
}

/** Returns how often each descendant of this process that runs Python has given up its processor to wait. */
function waits(): Map<string, number> {
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "utf8");
    } catch {
      return "";
    }
  };
  const pids = readdirSync("/proc").filter(Number);
  const parents = new Map(pids.map((pid) => [pid, /\) \S (\d+)/.exec(read(pid, "stat"))?.[1] ?? ""]));
  const isOurs = (pid = ""): boolean => pid === `${process.pid}` || (parents.has(pid) && isOurs(parents.get(pid)));
  const python = pids.filter((pid) => isOurs(pid) && read(pid, "cmdline").includes("python"));
  return new Map(
    python.map((pid) => [pid, Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(read(pid, "status"))?.[1])]),
  );
}

describe("a node that runs in a sandbox", () => {
  test("sets and deletes keys of the context, and records its output as logs", async () => {
    const sandbox = await bench.create({ "lib/tools.py": "def twice(x): return x * 2" });
    const code = "import tools\nprint('log é')\ncontext['b'] = tools.twice(context['a'])\ndel context['gone']";
    const outcome = await bench.run(sandbox, bench.request(code, { a: "850.0", gone: "1" }));
    expect(outcome).toEqual({
      kind: "finished",
      result: {
        status: "success",
        set: [{ key: "b", json: "1700.0" }],
        delete: ["gone"],
        logs: "log é\n",
        durationMs: expect.any(Number),
      },
    });
  });

  test("reports the error of its code with a traceback that names the file of the node", async () => {
    const outcome = await bench.run(await bench.create(), bench.request("x = 1\nx / 0"));
    expect(outcome).toMatchObject({
      kind: "finished",
      result: { status: "error", class: "NodeFailed", message: "ZeroDivisionError: division by zero" },
    });
    expect(JSON.stringify(outcome)).toContain('nodes/some.py\\", line 2');
  });

  test("needs two calls of E2B in a sandbox that the Lambda process has used, and three in any other sandbox", async () => {
    const sandbox = await bench.create();
    const callsOf = async (action: () => Promise<unknown>) => {
      const before = bench.gateway.calls.length;
      changesOf((await action()) as never);
      return bench.gateway.calls.slice(before);
    };
    const two = ["POST /files", "POST /execute"];
    expect(await callsOf(() => bench.run(sandbox, bench.request("context['a'] = b'small'")))).toEqual(two);
    const sandboxes = createSandboxes();
    const fresh = () => bench.run(sandbox, bench.request("context['a'] = 1"), new MemoryIo(), { sandboxes });
    expect(await callsOf(fresh)).toEqual(["POST /v2/sandboxes/:id/connect", ...two]);
  });

  test("with a small input without secrets needs one call of E2B, unless it is the first node in a warm sandbox", async () => {
    const sandbox = await bench.create({}, "exec_1", { key: "pool", idleSeconds: 60 });
    const first = bench.request("context['b'] = 1", {}, { isPlain: true });
    expect(changesOf(await bench.run(sandbox, first))).toEqual({ b: 1 });
    expect(bench.gateway.calls.slice(-2)).toEqual(["POST /files", "POST /execute"]);
    const callsFor = async (value: string) => {
      const before = bench.gateway.calls.length;
      const request = bench.request(
        "context['b'] = len(context['a'])",
        { a: JSON.stringify(value) },
        { isPlain: true },
      );
      expect(changesOf(await bench.run(sandbox, request))).toEqual({ b: value.length });
      return bench.gateway.calls.slice(before);
    };
    expect(await callsFor("x".repeat(10_000))).toEqual(["POST /execute"]);
    expect(await callsFor("x".repeat(20_000))).toEqual(["POST /files", "POST /execute"]);
  });

  test.runIf(process.platform === "linux")(
    "wakes only four processes of a used sandbox until its code runs",
    async () => {
      const sandbox = await bench.create();
      await bench.run(sandbox, bench.request("context['a'] = 1"));
      const woken: number[] = [];
      // After a node, the sandbox prepares a process for the next node. On a busy machine, that work may be counted, too.
      for (let node = 0; node < 8 && !woken.includes(4); node++) {
        await sleep(50);
        const before = waits();
        const { io, request } = held();
        const run = bench.run(sandbox, request, io);
        await eventually(() => io.asked === 1);
        woken.push([...waits()].filter(([pid, count]) => count !== before.get(pid)).length);
        io.open();
        changesOf(await run);
      }
      // These are the agent of the sandbox, its kernel, the daemon of the harness, and the process of the code.
      expect(woken).toContain(4);
    },
  );

  test("that is wrongly announced as the last one of its run lets later nodes and runs use the sandbox", async () => {
    const sandbox = await bench.create({}, "exec_1", { key: "pool", idleSeconds: 60 });
    const run = (more: Partial<RunRequest>) => bench.run(sandbox, bench.request("context['a'] = 1", {}, more));
    const last = { isLast: true } as const;
    const each: Partial<RunRequest>[] = [{}, last, last, {}, last, { execution: "exec_2" }];
    for (const more of each) expect(changesOf(await run(more))).toEqual({ a: 1 });
  });

  test("receives every character unchanged if its input is sent inside the executed cell", async () => {
    const sandbox = await bench.create();
    const odd = ["\"'\\\\n", "\n\r\t\0\u007f", "é\u0085\u2028", "😀", "\ud800", '"""', "{x}", "%s"];
    const context = Object.fromEntries(odd.map((text, n) => [`k${n}`, JSON.stringify(text)]));
    const code = "for key in list(context): context['out_' + key] = [ord(c) for c in context[key]]";
    const changes = changesOf(await bench.run(sandbox, bench.request(code, context, { isPlain: true })));
    const points = (text: string) => Array.from(text, (character) => character.codePointAt(0));
    expect(changes).toEqual(Object.fromEntries(odd.map((text, n) => [`out_k${n}`, points(text)])));
  });

  test("can set 100,000 keys of the context", async () => {
    const request = bench.request("for n in range(100_000): context[f'k{n}'] = n");
    const changes = changesOf(await bench.run(await bench.create(), request));
    expect(Object.keys(changes)).toHaveLength(100_000);
  });

  test("reads the results of earlier nodes", async () => {
    const io = new MemoryIo();
    io.results.set("extract", `{"total": 12.50, "pdf": ${io.keep("%PDF", "bytes")}}`);
    const code =
      "o = outputs['extract']\ncontext['x'] = [o['total'], len(o['pdf']), list(outputs), outputs.get('none')]";
    const changes = changesOf(await bench.run(await bench.create(), bench.request(code), io));
    expect(changes).toEqual({ x: [12.5, 4, ["extract"], null] });
  });
});

describe("the large values of a node", () => {
  test("are streamed in small parts out of one sandbox and into another", async () => {
    const io = new MemoryIo();
    const make = bench.request("context['big'] = b'ab' * 5_000_000\ncontext['text'] = 'é' * 3000");
    const made = await bench.run(await bench.create(), make, io);
    const { big, text } = changesOf(made) as Record<string, { $blob: { bytes: number } }>;
    expect([big?.$blob.bytes, text?.$blob.bytes]).toEqual([10_000_000, 6000]);
    expect(io.largestChunkBytes).toBeLessThan(1 << 20);

    const use = bench.request("context['n'] = [len(context['big']), context['text'][-1]]", {
      big: JSON.stringify(big),
      text: JSON.stringify(text),
    });
    expect(changesOf(await bench.run(await bench.create(), use, io))).toEqual({ n: [10_000_000, "é"] });
  });

  test("are not sent a second time if the sandbox already has them", async () => {
    const [io, sandbox] = [new MemoryIo(), await bench.create()];
    const { big } = changesOf(await bench.run(sandbox, bench.request("context['big'] = b'x' * 100_000"), io));
    const next = bench.request("context['n'] = len(context['big'])", { big: JSON.stringify(big) });
    expect(changesOf(await bench.run(sandbox, next, io))).toEqual({ n: 100_000 });
    expect(io.served).toEqual([]);
  });

  test("are sent with the code if the code names them", async () => {
    const io = new MemoryIo();
    const request = bench.request("if False: context['named']", {
      named: io.keep("n".repeat(5000), "text"),
      other: io.keep("o".repeat(5000), "text"),
    });
    await bench.run(await bench.create(), request, io);
    expect(io.served).toHaveLength(1);
  });

  test("are not stored a second time if the code only passes them on", async () => {
    const io = new MemoryIo();
    const request = bench.request("context['list'] = [context['pdf']]", { pdf: io.keep("%PDF", "bytes") });
    expect(Object.keys(changesOf(await bench.run(await bench.create(), request, io)))).toEqual(["list"]);
    expect(io.stored).toEqual([]);
  });

  test("raise an error in the code that reads them if their blobs were erased", async () => {
    const ref = { sha256: "0".repeat(64), bytes: 5, type: "bytes" };
    const request = bench.request("context['pdf']", { pdf: JSON.stringify({ $blob: ref }) });
    const outcome = await bench.run(await bench.create(), request);
    expect(outcome).toMatchObject({ result: { status: "error", message: expect.stringContaining("was erased") } });
  });
});

describe("a second delivery of a node", () => {
  test("gets the result of the code that is already running, and does not start the code a second time", async () => {
    const sandbox = await bench.create();
    const { io, request } = held();
    const first = bench.run(sandbox, request, io);
    await eventually(() => io.asked > 0);
    const second = bench.run(sandbox, request, io, { first: false, sandboxes: createSandboxes() });
    await eventually(() => io.asked > 1);
    io.open();
    expect(await second).toEqual(await first);
    expect(changesOf(await first)).toHaveProperty("once");
  });

  test("gets the stored result after the code has ended", async () => {
    const sandbox = await bench.create();
    const request = bench.request("import random; context['once'] = random.random()");
    const first = await bench.run(sandbox, request);
    expect(await bench.run(sandbox, request, new MemoryIo(), { first: false })).toEqual(first);
  });
});

describe("while code runs, a failure", () => {
  test("of the connection is followed by a new connection to the same code", async () => {
    const { io, request } = held();
    const running = bench.run(await bench.create(), request, io);
    await eventually(() => io.asked > 0);
    bench.gateway.breakConnections();
    await eventually(() => io.asked > 1);
    io.open();
    expect(changesOf(await running)).toHaveProperty("once");
  });

  test.each([
    ["502", "POST /execute"],
    ["502", "POST /files"],
    ["break", "POST /execute"],
    ["break", "POST /contexts"],
    [{ status: 503, body: '{"code":503,"message":"busy"}' }, "POST /files"],
  ] as const)(
    "of a request to E2B (%j for %s) is followed by a second request, and the sandbox does not count as lost",
    async (fault, call) => {
      const sandbox = await bench.create();
      const faults = [fault];
      bench.gateway.fault = (seen) => (seen === call ? faults.pop() : undefined);
      const running = bench.run(sandbox, bench.request("context['a'] = 1"), new MemoryIo(), { first: false });
      expect(changesOf(await running)).toEqual({ a: 1 });
      expect(faults).toEqual([]);
    },
  );

  test("of the sandbox ends the delivery with the outcome `gone`", async () => {
    const sandbox = await bench.create();
    const { io, request } = held();
    const running = bench.run(sandbox, request, io);
    await eventually(() => io.asked > 0);
    await bench.server.kill(sandbox.id);
    expect(await running).toEqual({ kind: "gone" });
    expect(await bench.run(sandbox, request, io, { first: false })).toEqual({ kind: "gone" });
  });

  test("of the sandbox is noticed even if the connection to it stays open", async () => {
    const sandboxes = createSandboxes({ lookAfterMs: 20 });
    const sandbox = await bench.create();
    const { io, request } = held();
    const running = bench.run(sandbox, request, io, { sandboxes });
    await eventually(() => io.asked > 0);
    bench.gateway.keepsDeadConnections = true;
    await bench.server.kill(sandbox.id);
    expect(await running).toEqual({ kind: "gone" });
    bench.gateway.keepsDeadConnections = false;
  });

  test("of a second delivery causes the removal of the kernel context that this delivery had created", async () => {
    const sandbox = await bench.create();
    const { io, request } = held();
    const end = new AbortController();
    const first = bench.run(sandbox, request, io, { first: false, signal: end.signal });
    await eventually(() => io.asked > 0);
    bench.gateway.calls.length = 0;
    end.abort();
    expect(await first).toEqual({ kind: "unfinished" });
    await eventually(() => bench.gateway.calls.some((call) => call.startsWith("DELETE /contexts/")));
    const next = bench.run(sandbox, request, io, { first: false });
    await eventually(() => io.asked > 1);
    io.open();
    expect(changesOf(await next)).toHaveProperty("once");
  });

  test("of the Lambda leaves the code running for the next delivery", async () => {
    const sandbox = await bench.create();
    const { io, request } = held();
    const end = new AbortController();
    const first = bench.run(sandbox, request, io, { signal: end.signal });
    await eventually(() => io.asked > 0);
    end.abort();
    expect(await first).toEqual({ kind: "unfinished" });
    const next = bench.run(sandbox, request, io, { first: false });
    await eventually(() => io.asked > 1);
    io.open();
    expect(changesOf(await next)).toHaveProperty("once");
  });

  test("to reach E2B leaves the node unfinished when the time of the delivery is over", async () => {
    const sandbox = await bench.create();
    bench.gateway.fault = () => "break";
    // A separate adapter, because the calls open its circuit breaker.
    const more = { signal: AbortSignal.timeout(300), sandboxes: createSandboxes() };
    expect(await bench.run(sandbox, bench.request("1"), new MemoryIo(), more)).toEqual({ kind: "unfinished" });
  });

  test.each(["openBlob", "storeBlob"] as const)(
    "of the blob store in %s fails the delivery, but not the node",
    async (call) => {
      const [io, sandbox] = [new MemoryIo(), await bench.create()];
      const request = bench.request("context['b'] = context['a'] + 'x' * 70_000", { a: io.keep("a", "text") });
      io.failure = { [call]: new StoreUnavailable("S3 is throttling") };
      await expect(bench.run(sandbox, request, io)).rejects.toThrow("S3 is throttling");
      io.failure = {};
      expect(changesOf(await bench.run(sandbox, request, io, { first: false }))).toHaveProperty(
        "b.$blob.bytes",
        70_001,
      );
    },
  );

  test("of the harness fails the delivery after a few further calls", async () => {
    const sandbox = await bench.create();
    await bench.run(sandbox, bench.request("1"));
    const { Sandbox } = await import("@e2b/code-interpreter");
    const e2b = await Sandbox.connect(sandbox.id);
    await e2b.files.remove("/root/.nova-sandbox", { user: "root" });
    await expect(bench.run(sandbox, bench.request("1"), new MemoryIo(), { first: false })).rejects.toMatchObject({
      name: "SandboxUnavailable",
      message: expect.stringContaining("No such file or directory: '/root/.nova-sandbox/harness.py'"),
    });
  });
});

describe("a turn that is written while the code is being sent", () => {
  test("prevents the start of the code if the chain refuses the turn", async () => {
    const sandbox = await bench.create();
    const request = bench.request("context['a'] = 1");
    const before = bench.gateway.calls.length;
    const refused = await bench.run(sandbox, request, new MemoryIo(), { turnWritten: Promise.resolve(false) });
    expect(refused).toEqual({ kind: "refused" });
    expect(bench.gateway.calls.slice(before)).not.toContain("POST /execute");
  });

  test("fails the delivery if it cannot be written to the chain", async () => {
    const sandbox = await bench.create();
    const turnWritten = Promise.reject(new StoreUnavailable("DynamoDB is throttling"));
    const running = bench.run(sandbox, bench.request("1"), new MemoryIo(), { turnWritten });
    await expect(running).rejects.toThrow("DynamoDB is throttling");
  });
});

describe("the function `stop`", () => {
  const inTime = () => AbortSignal.timeout(25_000);

  test("kills the running code of a node and prevents a later start", async () => {
    const sandbox = await bench.create();
    const { io, request } = held();
    const running = bench.run(sandbox, { ...request, code: `print('begun', flush=True)\n${waiting}` }, io);
    await eventually(() => io.asked > 0);
    expect(await bench.sandboxes.stop(sandbox.id, request.claim, io, inTime())).toEqual({
      kind: "stopped",
      logs: "begun\n",
    });
    expect(await running).toEqual({ kind: "tombstoned" });
    expect(await bench.run(sandbox, request, io, { first: false })).toEqual({ kind: "tombstoned" });
  });

  test("returns the result of code that has already ended, and stores its blobs", async () => {
    const [io, sandbox] = [new MemoryIo(), await bench.create()];
    const request = bench.request("context['a'] = b'x' * 100_000");
    const outcome = await bench.run(sandbox, request);
    expect(await bench.sandboxes.stop(sandbox.id, request.claim, io, inTime())).toEqual(outcome);
    expect(io.stored).toHaveLength(1);
  });

  test("reports a missing sandbox as `gone`, and throws for a sandbox that cannot be reached", async () => {
    const sandbox = await bench.create();
    const { claim } = bench.request("1");
    bench.gateway.fault = () => "break";
    const unreachable = bench.sandboxes.stop(sandbox.id, claim, new MemoryIo(), AbortSignal.timeout(200));
    await expect(unreachable).rejects.toMatchObject({ name: "SandboxUnavailable" });
    bench.gateway.fault = () => undefined;
    await bench.server.kill(sandbox.id);
    const sandboxes = createSandboxes();
    expect(await sandboxes.stop(sandbox.id, claim, new MemoryIo(), inTime())).toEqual({ kind: "gone" });
  });
});
