import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runCommandLine } from "../../packages/cli/src/main.ts";
import { aslErrors } from "../compiler/support/states.ts";
import { root } from "../support/imports.ts";
import { type Ended, nova } from "./support/nova.ts";

let cwd: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "nova-cli-"));
  expect((await nova(cwd, "init", "mine")).code).toBe(0);
});

afterAll(() => rm(cwd, { recursive: true }));

it("nova --version prints the version", async () => {
  const { version } = JSON.parse(await readFile(join(root, "packages/cli/package.json"), "utf8"));
  expect(await nova(cwd, "--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

it("nova validate prints the cost of warm sandboxes", async () => {
  await nova(cwd, "init", "ready");
  const file = join(cwd, "ready/workflow.json");
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), warm: 2 }));
  const { code, stdout } = await nova(cwd, "validate", "ready");
  expect([code, stdout]).toEqual([
    0,
    "keeps up to 2 sandboxes of each client warm while it is the active version, for about $0.27 per hour and client\nready is valid\n",
  ]);
});

describe("nova init", () => {
  it("makes a valid workflow, and prints the command to type next", async () => {
    const { stdout, code } = await nova(cwd, "init", "other");
    expect(stdout).toContain("nova run other");
    expect(code).toBe(0);
    expect(await nova(cwd, "validate", "other")).toMatchObject({ code: 0, stdout: "other is valid\n" });
    const { id, name } = JSON.parse(await readFile(join(cwd, "other/workflow.json"), "utf8"));
    expect([id, name]).toEqual(["other", "other"]);
  });

  it("makes with --typescript the same workflow as a TypeScript program, whose types work in any folder", {
    timeout: 60_000,
    tags: ["deep"],
  }, async () => {
    expect((await nova(cwd, "init", "--typescript", "typed")).stdout).toContain("workflow.ts is its graph");
    expect(await nova(cwd, "validate", "typed")).toMatchObject({ code: 0, stdout: "typed is valid\n" });
    const machine = JSON.parse((await nova(cwd, "compile", "typed")).stdout);
    expect(Object.keys(machine.States)).toEqual(expect.arrayContaining(["greet", "shout"]));
    const check = () =>
      execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", join(cwd, "typed")], { stdio: "pipe" });
    expect(check).not.toThrow();
  });

  it("leaves a folder with files unchanged", async () => {
    const { code, stderr } = await nova(cwd, "init", "mine");
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'nova: "mine" is not empty - name a new folder\n' });
  });
});

describe("nova validate", () => {
  it("prints with --json one object with all findings, and exits with 2 if one finding is an error", async () => {
    await mkdir(join(cwd, "bad"));
    const nodes = [
      { id: "start", type: "start" },
      { id: "work", type: "action", code: "context['a'] = totl" },
      { id: "end", type: "end" },
    ];
    const edges = [
      { from: "start", to: "wrk" },
      { from: "work", to: "end" },
    ];
    await writeFile(join(cwd, "bad", "workflow.json"), JSON.stringify({ nodes, edges }));
    const { code, stdout } = await nova(cwd, "validate", "bad", "--json");
    const { valid, diagnostics } = JSON.parse(stdout);
    expect({ code, valid }).toEqual({ code: 2, valid: false });
    expect(diagnostics).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ code: "NOVA206", severity: "error", path: "$.edges[0].to" }),
        expect.objectContaining({ code: "NOVA602", severity: "error" }),
      ]),
    );
    expect((await nova(cwd, "validate", "bad")).stdout).toContain("NOVA206");
  });

  it("reports a path that does not exist as a finding in its JSON output", async () => {
    const { code, stdout } = await nova(cwd, "validate", "nowhere", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ valid: false, diagnostics: [{ code: "NOVA101", path: "$" }] });
  });
});

describe("nova compile", () => {
  it("prints only a state machine on stdout", async () => {
    const { code, stdout } = await nova(cwd, "compile", "mine");
    expect(code).toBe(0);
    expect(await aslErrors(JSON.parse(stdout))).toBe("");
  });

  it("prints the findings of an invalid workflow on stderr", async () => {
    expect(await nova(cwd, "compile", "nowhere")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("NOVA101"),
    });
  });
});

describe("a wrong command line", () => {
  it.each([
    [["frobnicate"], "unknown command 'frobnicate'"],
    [["validate"], "missing required argument 'folder|file'"],
    [["validate", "mine", "--jsn"], "unknown option '--jsn'"],
    [["run", "mine", "--set", "name"], "--set name is not --set key=json"],
    [["run", "mine", "--set", "name=Ada"], `for a text write --set name='"Ada"'`],
    [["run", "mine", "--context", "none.json"], 'context file "none.json" cannot be read'],
    [["run", "mine", "--file", "pdf=none.pdf"], 'there is no file "none.pdf"'],
    [["run", "mine", "--node", "gret"], 'there is no node "gret" - the nodes with code are greet'],
    [["run", "mine", "--node", "end"], 'node "end" has no code'],
    [["run", "nowhere"], 'NOVA101: there is no file or folder "nowhere"'],
    [["executions", "--status", "failed,done"], 'there is no status "done"'],
    [["executions", "--limit", "none"], "--limit none is not a whole number"],
  ])("ends with one sentence and exit code 2: %j", async (args, sentence) => {
    const { code, stdout, stderr } = await inProcess(args.map((arg) => (arg === "mine" ? join(cwd, arg) : arg)));
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(await readdir(cwd)).not.toContain(".nova");
  });

  it("with --json prints exactly one JSON object", async () => {
    const { code, stdout } = await nova(cwd, "run", "nowhere", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      execution_id: null,
      status: "invalid",
      path: [],
      error: { node: null, class: "InvalidWorkflow", message: expect.stringContaining("nowhere") },
      diagnostics: [{ code: "NOVA101" }],
    });
  });

  it("with --json prints exactly one JSON object, also if the data folder cannot be used", async () => {
    vi.stubEnv("NOVA_DATA_DIR", join(cwd, "mine", "workflow.json"));
    const { code, stdout } = await nova(cwd, "run", "mine", "--json").finally(() => vi.unstubAllEnvs());
    expect(code).toBe(1);
    const error = { node: null, class: "LocalCloudError", message: expect.stringContaining("cannot be used") };
    expect(JSON.parse(stdout)).toMatchObject({ execution_id: null, status: "failed", path: [], error });
  });
});

/** Runs a command in this process, because the start of another process takes almost a second. */
async function inProcess(args: string[]): Promise<Ended> {
  vi.stubEnv("NOVA_DATA_DIR", join(cwd, ".nova"));
  const [stdout, stderr] = [[] as unknown[], [] as unknown[]];
  vi.spyOn(console, "log").mockImplementation((line) => void stdout.push(line));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => stderr.push(text) > 0);
  try {
    const code = await runCommandLine(args);
    return { code, stdout: stdout.join("\n"), stderr: stderr.join("") };
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
}

describe("nova template", () => {
  it("refuses to build without an E2B account, and lists its actions if an action is unknown", async () => {
    vi.stubEnv("E2B_API_KEY", "");
    expect(await nova(cwd, "template", "build")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("set E2B_API_KEY"),
    });
    expect(await nova(cwd, "template", "destroy")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("can build"),
    });
    vi.unstubAllEnvs();
  });
});
