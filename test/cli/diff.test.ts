import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newFolder, nova, writeChain } from "./support/nova.ts";

let cwd: string;
const ids: string[] = [];

beforeAll(async () => {
  cwd = await newFolder();
  const code = "context['total'] = sum(context['lines'])";
  for (const [lines, last] of [
    ["[1, 2]", "context['word'] = 'few'"],
    ["[1, 2]", "context['word'] = 'few'"],
    ["[12345678901234567890]", "context['word'] = 'one'"],
  ] as const) {
    await writeChain(cwd, "bills", { sum: code, tell: last });
    const { stdout } = await nova(cwd, "run", "bills", "--set", `lines=${lines}`, "--json");
    ids.push(JSON.parse(stdout).execution_id);
  }
});
afterAll(() => rm(cwd, { recursive: true }));

it("nova diff reports that two runs are equal", async () => {
  const { code, stdout } = await nova(cwd, "diff", ids[0] as string, ids[1] as string);
  expect([code, stdout]).toEqual([0, "the same: 4 nodes\n"]);
});

it("nova diff prints only the differences", async () => {
  const { stdout } = await nova(cwd, "diff", ids[1] as string, ids[2] as string);
  const lines = stdout.split("\n").map((line) => line.trimEnd());
  expect(lines.slice(0, 4).map((line) => line.replaceAll(/ {2,}/g, "|"))).toEqual([
    "node|path|definition|code|cost|time|context",
    expect.stringMatching(/^start.*lines$/),
    expect.stringMatching(/^sum\|.*ms\|total$/),
    expect.stringMatching(/^tell\|different\|.*word$/),
  ]);
  expect(stdout).toContain("sum\n    total\n      - 3\n      + 12345678901234567890\n");
  expect(stdout.trimEnd()).toMatch(/the same: 1 other nodes$/);
});

it("nova diff --json prints every node with exact digits", async () => {
  const { stdout } = await nova(cwd, "diff", ids[1] as string, ids[2] as string, "--json");
  expect(stdout).toContain('{"key":"total","was":3,"is":12345678901234567890}');
  const { nodes, ...rest } = JSON.parse(stdout);
  expect(rest).toEqual({});
  expect(nodes.map(({ place }: { place: string }) => place)).toEqual(["start", "sum", "tell", "end"]);
  for (const node of nodes)
    expect(Object.keys(node)).toEqual(["place", "path", "definition", "code", "context", "cost"]);
  expect(nodes[2]).toMatchObject({ path: "both", definition: { same: true }, code: { same: false } });
});

it("nova diff refuses an unknown execution in one sentence", async () => {
  const { code, stderr } = await nova(cwd, "diff", ids[0] as string, "nothing");
  expect([code, stderr]).toEqual([2, 'nova: there is no execution "nothing" - `nova executions` lists them\n']);
});
