// @module-tag deep
import { readdirSync, readFileSync } from "node:fs";
import { rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ListStateMachinesCommand, SFNClient } from "@aws-sdk/client-sfn";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newFolder, nova, type Started, startNova, writeChain } from "../cli/support/nova.ts";
import { type CountingServer, countingServer } from "../support/counting-server.ts";

let cwd: string;
let outside: CountingServer;
let running: Started[];

beforeEach(async () => {
  [cwd, outside, running] = [await newFolder(), await countingServer(), []];
  const hang = `import time, urllib.request; urllib.request.urlopen("${outside.url}/hang"); time.sleep(50)`;
  const nodes = { one: "context['id'] = 12345678901234567890", two: hang, three: "context['n'] = 3" };
  await writeChain(cwd, "hangs", nodes, outside.reach);
  await writeChain(cwd, "quick", { one: "context['done'] = True" });
});

afterEach(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.map(({ ended }) => ended));
  await outside[Symbol.asyncDispose]();
  await rm(cwd, { recursive: true, force: true });
});

function start(...args: string[]): Started {
  const started = startNova(cwd, ...args);
  running.push(started);
  return started;
}

async function json(...args: string[]) {
  const { code, stdout, stderr } = await nova(cwd, ...args, "--json");
  expect(stdout.split("\n"), stderr).toHaveLength(2);
  return { code, ...JSON.parse(stdout) };
}

/** Returns the ids of all descendants of a process, read from /proc. */
function descendantsOf(pid: number): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parentOf = new Map(pids.map((name) => [Number(name), parentIn(name)]));
  const children = (of: number): number[] =>
    [...parentOf].filter(([, parent]) => parent === of).map(([child]) => child);
  return children(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

function parentIn(pid: string): number {
  try {
    return Number(
      readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")[1],
    );
  } catch {
    return 0;
  }
}

const isAlive = (pid: number) => parentIn(String(pid)) > 0;

/**
 * Starts `nova run`, and kills it when `point` resolves. Returns the ids of the processes that the command had started.
 */
async function killedAt(point: (run: Started) => Promise<unknown>): Promise<number[]> {
  const run = start("run", "hangs");
  await point(run);
  const family = process.platform === "linux" ? descendantsOf(run.child.pid ?? 0) : [];
  run.child.kill("SIGKILL");
  await run.ended;
  return family;
}

describe("the process of `nova run`, when it is killed,", { timeout: 120_000 }, () => {
  it("loses no entry that was written before the kill", async () => {
    const inside = await killedAt(() => outside.asked("/hang"));
    const between = await killedAt((run) => run.line("✓ one"));
    const begun = await killedAt((run) => run.line("· one"));
    const { items } = await json("executions");
    expect(items.map(({ status }: { status: string }) => status)).toEqual(Array(3).fill("interrupted"));
    const ids = items.map((item: { execution_id: string }) => item.execution_id);
    const verified = Promise.all(ids.map((id: string) => nova(cwd, "verify", id)));
    const [first, second, third] = await Promise.all(ids.map((id: string) => json("trace", id)));
    expect(await verified).toMatchObject(Array(3).fill({ code: 0, stdout: expect.stringContaining("anchored") }));
    // The kill may come late: the node may have ended, and the next one may have started.
    expect(["start", "one", "two"].slice(0, first.path.length)).toEqual(first.path);
    expect(second.entries[1]).toMatchObject({ node_id: "one", status: "success" });
    expect(third.path).toEqual(["start", "one", "two"]);
    expect(third.entries[2]).toMatchObject({ status: "failed", error_class: "NodeInterrupted" });
    for (const left of [inside, between, begun])
      await vi.waitFor(() => expect(left.filter(isAlive)).toEqual([]), 10_000);
  });

  it("ends the runs of other terminals on the same data folder, and each of these terminals reports the end in one sentence", async () => {
    const owner = start("run", "hangs");
    await outside.asked("/hang");
    const guest = start("run", "hangs");
    await guest.line("· two");
    owner.child.kill("SIGKILL");
    const { code, stderr } = await guest.ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^nova: [^\n]+\n$/)]);
    const { items } = await json("executions", "--status", "interrupted");
    expect(items).toHaveLength(2);
    expect(await json("run", "quick")).toMatchObject({ code: 0, status: "completed" });
  });
});

describe("`nova run` in a second terminal", { timeout: 60_000 }, () => {
  it("can run a workflow on the same data folder at the same time", async () => {
    const wait = `import urllib.request; urllib.request.urlopen("${outside.url}/wait").read()`;
    await writeChain(cwd, "waits", { wait }, outside.reach);
    const first = start("run", "waits", "--json");
    await outside.asked("/wait");
    const [one, two] = await Promise.all([first.ended, json("run", "quick")]);
    expect(JSON.parse(one.stdout)).toMatchObject({ status: "completed" });
    expect(two).toMatchObject({ code: 0, status: "completed", context: { done: true } });
  });
});

describe("the command `nova cancel`", { timeout: 60_000 }, () => {
  it("cancels a run that was started in another terminal", async () => {
    const run = start("run", "hangs", "--json");
    await outside.asked("/hang");
    const [execution] = (await json("executions", "--status", "running")).items;
    expect(await json("cancel", execution.execution_id)).toMatchObject({ code: 0, status: "cancelled" });
    const { code, stdout } = await run.ended;
    expect([code, JSON.parse(stdout).status]).toEqual([1, "cancelled"]);
  });
});

describe("Ctrl-C during `nova run`", { timeout: 60_000 }, () => {
  it("cancels the run and prints its result", async () => {
    const run = start("run", "hangs", "--json");
    await outside.asked("/hang");
    run.child.kill("SIGINT");
    const { code, stdout, stderr } = await run.ended;
    const result = JSON.parse(stdout);
    expect([code, stderr, stdout.match(/12345678901234567890/g)]).toEqual([130, "", ["12345678901234567890"]]);
    expect(result).toMatchObject({ status: "cancelled", path: ["start", "one", "two"], error: { node: "two" } });
    expect(Object.keys(result)).toEqual([
      "execution_id",
      "workflow",
      "version",
      "status",
      "context",
      "path",
      "error",
      "stats",
    ]);
    expect(Object.keys(result.stats)).toEqual(["duration_ms", "nodes", "aws_calls", "sandbox_calls", "bytes_stored"]);
    expect((await nova(cwd, "verify", result.execution_id)).code).toBe(0);
  });
});

describe("a bad context file for `nova run`", { timeout: 60_000 }, () => {
  it.each([
    ["is not JSON", '{"a": 1,}', /is not JSON/],
    ["is larger than 64 MB", 64 * 1024 * 1024 + 1, /--file key=path/],
    ["is nested too deep", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, /nested|deep/],
  ])("makes the command fail with one sentence if it %s", async (_what, content, sentence) => {
    const file = join(cwd, "context.json");
    await writeFile(file, typeof content === "string" ? content : "{}");
    if (typeof content === "number") await truncate(file, content);
    const { code, stdout, stderr } = await nova(cwd, "run", "quick", "--context", "context.json");
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(/^nova: [^\n]+\n$/)]);
    expect(stderr).toMatch(sentence);
  });
});

it("an AWS client with the variables that `nova local` prints can list the state machines", {
  timeout: 60_000,
}, async () => {
  const local = start("local", "--json");
  const variables = JSON.parse(await local.line("{"));
  await json("run", "quick");
  const { AWS_ENDPOINT_URL_SFN: endpoint, AWS_REGION: region, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = variables;
  const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  const machines = await new SFNClient({ endpoint, region, credentials }).send(new ListStateMachinesCommand());
  expect(machines.stateMachines?.map(({ name }) => name)).toEqual(["nova-quick"]);
  const stranger = new SFNClient({
    endpoint,
    region,
    credentials: { ...credentials, accessKeyId: "AKIAIOSFODNN7EXAMPLE" },
  });
  await expect(stranger.send(new ListStateMachinesCommand())).rejects.toMatchObject({
    name: "UnrecognizedClientException",
  });
  const guesser = new SFNClient({ endpoint, region, credentials: { ...credentials, secretAccessKey: "anything" } });
  await expect(guesser.send(new ListStateMachinesCommand())).rejects.toMatchObject({
    name: "InvalidSignatureException",
  });
  local.child.kill("SIGTERM");
  expect((await local.ended).code).toBe(0);
});
