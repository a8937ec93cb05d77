import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileNotFoundError, Sandbox } from "@e2b/code-interpreter";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openE2b } from "../../packages/e2b-local/src/open.ts";
import { API_KEY, asRoot, eventually, modules, printed, useServer } from "./server.ts";

/** Returns the number of processes on this machine that have `word` in their command line. */
function running(word: string): number {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
    } catch {
      return false;
    }
  }).length;
}

/** A module that every Python has, and that no zygote imports without a request. */
const wanted = "wave";

/** Starts a detached process whose command line contains `word`. */
async function leaveDetached(sandbox: Sandbox, word: string) {
  await sandbox.runCode(`
import os
if os.fork() == 0:
    os.setsid()
    os.execvp("sleep", ["sleep", "${word}"])`);
}

describe.runIf(process.platform === "linux")("a local E2B server leaves no process running", () => {
  test("when the server is closed", async () => {
    const server = await openE2b({ apiKey: API_KEY, modules });
    const sandbox = await Sandbox.create("nova", { apiKey: API_KEY, ...server });
    await leaveDetached(sandbox, "7001001");
    await eventually(() => running("7001001") > 0);
    await server.close();
    expect(running("7001001")).toBe(0);
  });

  test("when a sandbox is killed", async () => {
    const server = await openE2b({ apiKey: API_KEY, modules });
    const sandbox = await Sandbox.create("nova", { apiKey: API_KEY, ...server });
    await leaveDetached(sandbox, "7001002");
    await eventually(() => running("7001002") > 0);
    await sandbox.kill();
    expect(running("7001002")).toBe(0);
    await server.close();
  });

  test("when the Node process is killed", async () => {
    const open = new URL("../../packages/e2b-local/src/open.ts", import.meta.url).href;
    const script = `
const { openE2b } = await import("${open}");
const server = await openE2b({ apiKey: "${API_KEY}" });
console.log(server.apiUrl);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const url = line.toString().trim();
    const sandbox = await Sandbox.create("nova", { apiKey: API_KEY, apiUrl: url, sandboxUrl: url });
    await leaveDetached(sandbox, "7001003");
    await eventually(() => running("7001003") > 0);
    child.kill("SIGKILL");
    await eventually(() => running("7001003") === 0);
  });
});

describe.runIf(process.platform === "linux")("a local E2B server that waits for the first sandbox", () => {
  const opened = async () => {
    const folder = mkdtempSync(join(tmpdir(), "nova-sites-"));
    const server = await openE2b({ apiKey: API_KEY, modules, sitePackages: [folder], waits: true });
    return { folder, server, ask: () => Sandbox.create("nova", { apiKey: API_KEY, ...server }) };
  };

  test("starts no Python before a client requests a sandbox, and serves several clients at the same time", async () => {
    const { folder, server, ask } = await opened();
    expect(running(folder)).toBe(0);
    const [one, other] = await Promise.all([ask(), ask()]);
    expect([await printed(one, "print(1)"), await printed(other, "print(2)")]).toEqual(["1", "2"]);
    expect(server.sandboxes()).toHaveLength(2);
    await server.close();
    expect(running(folder)).toBe(0);
    rmSync(folder, { recursive: true });
  });

  test("leaves no Python process if the server closes while Python starts", async () => {
    const { folder, server, ask } = await opened();
    const refused = ask().catch(() => undefined);
    await eventually(() => running(folder) > 0);
    await server.close();
    expect(running(folder)).toBe(0);
    await refused;
    rmSync(folder, { recursive: true });
  });
});

test("new sandboxes have already imported the packages that the server has loaded, and older sandboxes continue", async () => {
  const server = await openE2b({ apiKey: API_KEY, modules });
  const cold = await Sandbox.create("nova", { apiKey: API_KEY, ...server });
  await cold.runCode("kept = 1");
  await server.warmed();
  const warm = await Sandbox.create("nova", { apiKey: API_KEY, ...server });
  expect(await printed(warm, "import sys; print('zoneinfo' in sys.modules)")).toBe("True");
  expect((await cold.runCode("kept")).text).toBe("1");
  await cold.kill();
  await warm.kill();
  await server.close();
});

test("sandboxes that need no packages are forked from a process that never loads packages", async () => {
  const server = await openE2b({ apiKey: API_KEY, modules: [wanted] });
  const make = (metadata: Record<string, string>) => Sandbox.create("nova", { apiKey: API_KEY, ...server, metadata });
  const first = await make({ packages: "none" });
  await server.warmed();
  const [light, usual] = [await make({ packages: "none" }), await make({})];
  const loaded = `import sys; print([name in sys.modules for name in ('zoneinfo', '${wanted}')])`;
  expect(await printed(light, loaded)).toBe("[True, False]");
  expect(await printed(usual, loaded)).toBe("[True, True]");
  expect(await printed(first, "print(1)")).toBe("1");
  await server.close();
});

test("a local E2B server imports packages only after a client has requested a sandbox that may use them", {
  tags: ["deep"],
}, async () => {
  const server = await openE2b({ apiKey: API_KEY, modules: [wanted] });
  const make = (metadata = {}) => Sandbox.create("nova", { apiKey: API_KEY, ...server, metadata });
  const loaded = `import sys; print([name in sys.modules for name in ('zoneinfo', '${wanted}')])`;
  const pauseMs = 500; // The server imports packages only while no request waits.
  await eventually(async () => (await printed(await make({ packages: "none" }), loaded)) === "[True, False]", pauseMs);
  expect(await printed(await make(), loaded)).toBe("[True, False]");
  await eventually(async () => (await printed(await make(), loaded)) === "[True, True]", pauseMs);
  await server.close();
});

/**
 * A preloaded module that ends each kernel at its start until the file `mended` exists. It delays the agent until the
 * first kernel has ended.
 */
const brokenKernels = `
import os
from nova_sandboxd import kernel, kernels

run = kernel.run

def run_or_fail(*pipes):
    if os.path.exists("/tmp/mended"):
        run(*pipes)
    with open("/tmp/starts", "a") as starts:
        starts.write("x")
    raise RuntimeError("the patch is broken")

kernel.run = run_or_fail

prepare = kernels.Kernels.__init__

def prepare_and_wait(self, *arguments):
    prepare(self, *arguments)
    os.waitid(os.P_PID, self.spare.pid, os.WEXITED | os.WNOWAIT)

kernels.Kernels.__init__ = prepare_and_wait
`;

describe("a sandbox whose Python processes end at their start", () => {
  const folder = mkdtempSync(join(tmpdir(), "nova-broken-"));
  writeFileSync(join(folder, "broken_kernels.py"), brokenKernels);
  afterAll(() => rmSync(folder, { recursive: true }));
  const { create } = useServer({ preloaded: { folder, module: "broken_kernels" } });

  test("starts another Python process only for a cell, reports to the caller how to continue, and recovers", async () => {
    const sandbox = await create();
    const started = async () => (await sandbox.files.read("/tmp/starts", asRoot)).length;
    for (let cell = 0; cell < 3; cell++) {
      const { error, logs } = await sandbox.runCode("1");
      expect(error).toMatchObject({
        name: "ContextRestarting",
        value: expect.stringContaining("create another sandbox"),
      });
      expect(logs.stderr.join("")).toContain("RuntimeError: the patch is broken");
    }
    // Two kernels start before the first cell: the first one and a spare one. A loop would start hundreds.
    expect(await started()).toBeLessThan(10);
    await sandbox.files.write("/tmp/mended", "", asRoot);
    expect(await printed(sandbox, "print('runs again')")).toBe("runs again");
  });
});

test("the first sandbox of a local E2B server has already imported the preloaded module", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nova-preloaded-"));
  writeFileSync(join(folder, "made_ahead.py"), "");
  const server = await openE2b({ apiKey: API_KEY, modules, preloaded: { folder, module: "made_ahead" } });
  const first = await Sandbox.create("nova", { apiKey: API_KEY, ...server });
  expect(await printed(first, "import sys; print('made_ahead' in sys.modules)")).toBe("True");
  await server.close();
  rmSync(folder, { recursive: true });
});

describe("a local E2B server without bubblewrap", () => {
  const folder = mkdtempSync(join(tmpdir(), "nova-path-"));
  const path = process.env.PATH;
  const warnings: string[] = [];
  beforeAll(() => {
    const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" });
    symlinkSync(python.trim(), join(folder, "python3"));
    process.env.PATH = folder;
  });
  afterAll(() => {
    process.env.PATH = path;
    rmSync(folder, { recursive: true });
  });

  const { server, create } = useServer({ warn: (sentence) => warnings.push(sentence) });

  test("reports once that sandboxes are not isolated", () => {
    expect(server().isolated).toBe(false);
    expect(warnings).toEqual([expect.stringContaining("not isolated")]);
  });

  test("runs code, and keeps the files of each sandbox in its own folder", async () => {
    const [one, other] = [await create(), await create()];
    for (const given of ["/home/user/notes.txt", "/tmp/scratch.txt"]) {
      await one.files.write(given, "mine", asRoot);
      expect(await one.files.read(given, asRoot)).toBe("mine");
      await expect(other.files.read(given, asRoot)).rejects.toThrow(FileNotFoundError);
    }
    expect(await printed(one, "print(open('notes.txt').read())")).toBe("mine");
    expect((await one.runCode("1 / 0")).error?.name).toBe("ZeroDivisionError");
    expect((await one.runCode("import os; os._exit(1)")).error?.name).toBe("ContextRestarting");
  });

  test.runIf(process.platform === "linux")("ends the detached processes of a killed sandbox", async () => {
    const sandbox = await create();
    await sandbox.runCode(
      "import os\nif os.fork() == 0:\n    os.setsid(); os.execv('/bin/sleep', ['sleep', '7001004'])",
    );
    await eventually(() => running("7001004") > 0);
    await sandbox.kill();
    await eventually(() => running("7001004") === 0);
  });
});
