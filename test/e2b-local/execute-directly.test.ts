import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Sandbox } from "@e2b/code-interpreter";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { KeptConnection } from "../../packages/e2b-local/src/agent-call.ts";
import { eventually, printed, useServer } from "./server.ts";

const { server, create, connection } = useServer();
const overHttp = globalThis.fetch;
/** The code of the cells that ran without HTTP. */
let direct: string[];

beforeEach(() => {
  direct = [];
  vi.stubGlobal("fetch", (url: string, init: Parameters<ReturnType<typeof server>["execute"]>[0]) => {
    if (url !== `${server().sandboxUrl}/execute`) return overHttp(url, init);
    direct.push(JSON.parse(init.body).code);
    return server().execute(init);
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

it("a code cell that is run without HTTP streams its output, and returns its value and its error", async () => {
  const sandbox = await create();
  const seen: string[] = [];
  const execution = await sandbox.runCode("print('ä')\nimport sys\nprint('b', file=sys.stderr)\n6 * 7", {
    onStdout: ({ line }) => void seen.push(line),
    onStderr: ({ line }) => void seen.push(line),
  });
  expect({ text: execution.text, seen: seen.sort() }).toEqual({ text: "42", seen: ["b\n", "ä\n"] });
  expect((await sandbox.runCode("1 / 0")).error).toMatchObject({ name: "ZeroDivisionError" });
  expect(direct).toHaveLength(2);
});

it("a code cell that is run without HTTP prints several megabytes completely", async () => {
  const text = await printed(await create(), "print('x' * 5_000_000)");
  expect(text).toHaveLength(5_000_000);
});

it("a code cell that is run without HTTP runs in the Python process that the request names", async () => {
  const sandbox = await create();
  const context = await sandbox.createCodeContext();
  await sandbox.runCode("mine = 1", { context });
  expect((await sandbox.runCode("mine", { context })).text).toBe("1");
  expect((await sandbox.runCode("mine")).error).toMatchObject({ name: "NameError" });
  await expect(sandbox.runCode("1", { context: { ...context, id: "none" } })).rejects.toThrow(/not found/);
});

it("a code cell that is run without HTTP is refused without the traffic token of its sandbox", async () => {
  const sandbox = await create({ network: { allowPublicTraffic: false } });
  const body = JSON.stringify({ code: "1" });
  const headers = { "E2b-Sandbox-Id": sandbox.sandboxId, "E2b-Sandbox-Port": "49999" };
  expect(await server().execute({ headers, body })).toMatchObject({ ok: false, status: 403 });
  expect((await sandbox.runCode("1")).text).toBe("1");
});

it.each([
  ["no JSON", "{", 500],
  ["no code", "{}", 422],
])("a code cell that is run without HTTP is refused if its request has %s", async (_what, body, status) => {
  const { sandboxId } = await create();
  expect(await server().execute({ headers: { "E2b-Sandbox-Id": sandboxId }, body })).toMatchObject({ status });
});

it("a code cell that is run without HTTP fails as over HTTP if its sandbox is unknown or is killed during the cell", async () => {
  const sandbox = await create();
  const running = sandbox.runCode("print(1)\nimport time\ntime.sleep(60)");
  const failing = expect(running).rejects.toThrow(/killed|not found|timeout/);
  await eventually(() => direct.length === 1);
  await Sandbox.kill(sandbox.sandboxId, connection());
  await failing;
  await expect(sandbox.runCode("1")).rejects.toThrow(/The sandbox was not found/);
});

it("a code cell that is run without HTTP is interrupted when the caller stops reading", async () => {
  const sandbox = await create();
  const code = "import time\nprint('begun')\ntry:\n    time.sleep(60)\nfinally:\n    open('/tmp/left', 'w').close()";
  const stop = () => {
    throw new Error("enough");
  };
  await expect(sandbox.runCode(code, { onStdout: stop })).rejects.toThrow("enough");
  await eventually(async () => (await printed(sandbox, "import os; print(os.path.exists('/tmp/left'))")) === "True");
});

it("a code cell that is run without HTTP ends when its time limit is over", async () => {
  const sandbox = await create();
  await expect(sandbox.runCode("import time; time.sleep(60)", { timeoutMs: 300 })).rejects.toThrow(/timed out/);
});

it("a code cell that is run without HTTP is not started if its caller has aborted before", async () => {
  const sandbox = await create();
  const headers = { "E2b-Sandbox-Id": sandbox.sandboxId };
  const body = JSON.stringify({ code: "open('/tmp/ran', 'w').close()" });
  await expect(server().execute({ headers, body, signal: AbortSignal.abort("gone") })).rejects.toBe("gone");
  expect(await printed(sandbox, "import os; print(os.path.exists('/tmp/ran'))")).toBe("False");
});

it("code cells that are run without HTTP share a connection until one of them is aborted", async () => {
  const sockets = vi.spyOn(KeptConnection.prototype, "openCall").mock.results;
  const sandbox = await create();
  for (let n = 0; n < 3; n++) expect((await sandbox.runCode(`${n}`)).text).toBe(`${n}`);
  await expect(sandbox.runCode("import time; time.sleep(60)", { timeoutMs: 200 })).rejects.toThrow(/timed out/);
  expect((await sandbox.runCode("3")).text).toBe("3");
  const used = sockets.map(({ value }) => value);
  expect(new Set(used.slice(0, 4)).size).toBe(1);
  expect(used[4]).not.toBe(used[0]);
});

it("a code cell that is run without HTTP cannot forge the output of the next cell", async () => {
  const sandbox = await create();
  const forge = `import os, socket, sys
write_frame = sys.modules["nova_sandboxd.kernel"].write_frame
end = b'{"type": "end_of_execution"}\\n'
payload = b'{"type": "stdout", "text": "' + b"x" * 65_000 + b'"}\\n' + end
payload += b'{"ok": true}\\n{"type": "result", "is_main_result": true, "text": "FORGED"}\\n' + end
for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        channel = socket.socket(fileno=os.dup(fd))
        if channel.family == socket.AF_UNIX: write_frame(channel, b"D", payload)
    except OSError:
        pass`;
  expect((await sandbox.runCode(forge)).error).toMatchObject({ name: "UnexpectedEndOfExecution" });
  const context = await sandbox.createCodeContext();
  expect((await sandbox.runCode("1", { context })).text).toBe("1");
});

it("a kept connection to a sandbox serves one request after another, and is replaced if it is busy or broken", async () => {
  const opened: Socket[] = [];
  const agent = createServer((socket) => void opened.push(socket.on("data", () => socket.write("."))));
  const path = join(await mkdtemp(join(tmpdir(), "agent-")), "socket");
  await once(agent.listen(path), "listening");
  const calls = new KeptConnection(path);
  const open = async () => {
    const socket = calls.openCall({ op: "execute" });
    await once(socket, "readable");
    expect(String(socket.read())).toBe(".");
    return socket;
  };
  const first = await open();
  calls.keep(first);
  expect(await open()).toBe(first);
  const second = await open();
  expect(second).not.toBe(first);
  calls.keep(first);
  calls.keep(second);
  expect([first.destroyed, second.destroyed]).toEqual([true, false]);
  second.destroy();
  expect(await open()).not.toBe(second);
  expect(opened).toHaveLength(3);
  for (const socket of opened) socket.destroy();
  agent.close();
  await rm(dirname(path), { recursive: true });
});
