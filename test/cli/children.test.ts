import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newFolder, nova, type Started, startNova, writeChain } from "./support/nova.ts";

let cwd: string;
let owner: Started;

beforeAll(async () => {
  cwd = await newFolder();
  await writeNodes("bills", { bill: { type: "workflow", workflow: "sums", output: { total: "total" } } });
  await writeChain(cwd, "sums", { sum: "context['total'] = sum(context['lines'])" });
  owner = startNova(cwd, "local", "--json");
  await owner.line("AWS_ENDPOINT_URL_DYNAMODB");
});

afterAll(async () => {
  owner.child.kill("SIGINT");
  expect(await owner.ended).toMatchObject({ code: 0 });
  await rm(cwd, { recursive: true });
});

/** Writes a workflow of nodes in a row. The edge after `ask` depends on the answer to `ask`. */
async function writeNodes(folder: string, nodes: Record<string, object>, id = folder): Promise<void> {
  const path = ["start", ...Object.keys(nodes), "end"];
  const definition = {
    id,
    nodes: path.map((node) => ({ id: node, type: node, ...nodes[node] })),
    edges: path
      .slice(1)
      .map((to, index) => ({ from: path[index], to, ...(path[index] === "ask" && { condition: "yes" }) })),
  };
  await mkdir(join(cwd, folder), { recursive: true });
  await writeFile(join(cwd, folder, "workflow.json"), JSON.stringify(definition));
}

async function runJson(...args: string[]) {
  const { code, stdout } = await nova(cwd, "run", ...args, "--json");
  return { code, ...JSON.parse(stdout) };
}

const calls = (workflow: string, fields: object = {}) => ({ type: "workflow", workflow, ...fields });
const lines = ["--set", "lines=[1, 2.5]"];

describe("nova run of a workflow that calls other workflows", { timeout: 60_000 }, () => {
  it("publishes called workflows from neighbouring folders, with a new version if they have changed", async () => {
    expect(await runJson("bills", ...lines)).toMatchObject({ code: 0, status: "completed", context: { total: 3.5 } });
    await writeChain(cwd, "sums", { sum: "context['total'] = -sum(context['lines'])" });
    const second = await runJson("bills", ...lines);
    expect(second).toMatchObject({ code: 0, version: 1, context: { total: -3.5 } });
    const { stdout } = await nova(cwd, "trace", second.execution_id, "--full", "--json");
    const { entries } = JSON.parse(stdout);
    expect(entries[1].child).toMatchObject({ workflow: "sums", version: 2, entries: { length: 4 } });
    const shown = (await nova(cwd, "trace", second.execution_id, "--full")).stdout;
    expect(shown).toMatch(/1 +bill +workflow +success .*\n +workflow sums version 2: exec_\w+\n0 +start .*\n1 +sum /);
    const inner = await nova(cwd, "trace", entries[1].child.execution_id);
    expect(inner.stdout).toMatch(new RegExp(`^run by entry 1 of ${second.execution_id}\n`));
    const verified = await nova(cwd, "verify", second.execution_id);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/^anchored 8 entries/) });
  });

  it("finds workflows that are called indirectly, and called workflows that are already published", async () => {
    await writeNodes("outer", { first: calls("bills"), again: calls("bills", { version: 1 }) });
    expect(await runJson("outer/workflow.json", ...lines)).toMatchObject({ code: 0, status: "completed" });
    await rm(join(cwd, "sums"), { recursive: true });
    expect(await runJson("bills", ...lines)).toMatchObject({ code: 0, context: { total: -3.5 } });
  });

  it.each([
    ["does not exist", calls("nowhere"), /^there is no workflow "nowhere", which node "bill" of "amiss" runs - put/],
    [
      "lacks the called version",
      calls("bills", { version: 7 }),
      /^workflow "bills" has no version 7, .* the latest is 1$/,
    ],
    ["has another id in its folder", calls("misnamed"), /has the workflow "other", not "misnamed" - /],
    ["has errors", calls("faulty"), /^NOVA401: /],
  ])("refuses a called workflow that %s", async (_what, node, message) => {
    await writeNodes("amiss", { bill: node });
    await writeNodes("misnamed", {}, "other");
    await writeNodes("faulty", { wrong: { type: "action" } });
    const { code, status, error } = await runJson("amiss");
    expect({ code, status }).toEqual({ code: 2, status: "invalid" });
    expect(error.message).toMatch(message);
  });

  it("prints which called workflow waits for an answer", { tags: ["deep"] }, async () => {
    await writeNodes("asks", { ask: { type: "approval", message: "Pay it?", choices: ["yes"] } });
    await writeNodes("waits", { bill: calls("asks") });
    const run = startNova(cwd, "run", "waits");
    const [, task = ""] = /nova approve (task_\w+) .*ask of exec_/.exec(await run.line("nova approve")) ?? [];
    expect((await nova(cwd, "approve", task, "--choice", "yes")).code).toBe(0);
    expect(await run.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("completed") });
  });

  it("leaves the waiting runs open at Ctrl-C, and an answer lets these runs continue to the end", {
    tags: ["deep"],
  }, async () => {
    const folders = ["waits", "asks"].map((name) => join(cwd, name));
    const elsewhere = await newFolder();
    for (const folder of folders) await cp(folder, join(elsewhere, basename(folder)), { recursive: true });
    const run = startNova(elsewhere, "run", "waits");
    const [, task = ""] = /nova approve (task_\w+) .*ask of exec_/.exec(await run.line("nova approve")) ?? [];
    run.child.kill("SIGINT");
    expect(await run.ended).toMatchObject({
      code: 130,
      stdout: expect.stringContaining("continues after what it waits for"),
    });
    expect((await nova(elsewhere, "approve", task, "--choice", "yes")).code).toBe(0);
    const { items } = JSON.parse((await nova(elsewhere, "executions", "--json")).stdout);
    expect(items.map(({ workflow, status }: Record<string, string>) => `${workflow} ${status}`)).toEqual([
      "asks completed",
      "waits completed",
    ]);
    await rm(elsewhere, { recursive: true });
  });
});
