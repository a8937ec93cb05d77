import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { readLockFolder } from "../../../packages/cli/src/lock/folder.ts";
import { inARow } from "../../support/cloud.ts";
import { lockedOf, locking, promptOf, sum } from "../lock/folders.ts";
import { newFolder, nova, writeChain } from "../support/nova.ts";

let cwd: string;

/**
 * Records three runs of a node with hand-written code; one of the runs fails. `sample` then replaces this code by a
 * prompt with locked code.
 */
beforeAll(async () => {
  vi.stubEnv("NO_COLOR", "1");
  cwd = await newFolder();
  await writeChain(cwd, "bills", { sum: 'context["total"] = sum(context["lines"])' });
  for (const lines of ["[1, 2]", "[]", '["a"]']) await nova(cwd, "run", "bills", "--set", `lines=${lines}`);
});
afterAll(() => rm(cwd, { recursive: true }));

async function sample(code: string, count: number, ...more: string[]) {
  await writeFile(join(cwd, "bills/workflow.json"), JSON.stringify(inARow("bills", { sum })));
  await rm(join(cwd, "bills/workflow.lock.json"), { force: true });
  const folder = await readLockFolder(join(cwd, "bills"));
  await locking(folder, { sum: lockedOf(promptOf(folder), { code }) });
  return nova(cwd, "test", "bills", "--samples", String(count), ...more);
}

it("nova test --samples counts the outcomes of generated code on recorded inputs, with its cost", {
  timeout: 60_000,
}, async () => {
  const code = 'context["total"] = 0\nfor n in context["lines"]: context["total"] += n';
  const { code: exit, stdout } = await sample(code, 3);
  expect(exit).toBe(1);
  expect(stdout).toMatch(
    /^node {2}samples {2}same {2}differs {2}fails {2}cost\nsum {3}3 {8}2 {5}0 {8}1 {6}\$0\.\d{4}\n$/,
  );
  const other = await sample('context["total"] = len(context["lines"])', 2, "--json");
  const { same, nodes } = JSON.parse(other.stdout);
  expect([other.code, same]).toEqual([1, false]);
  expect(nodes).toMatchObject([{ node: "sum", refused: null, samples: 2, same: 1, differs: 1, fails: 0 }]);
});

it("nova test --samples exits with 0 if all outcomes are equal, and says if the workflow has no code to sample", {
  timeout: 60_000,
}, async () => {
  // Records a run of the code that the previous test has stored. `sample` then runs this code again on the recorded
  // input.
  await nova(cwd, "run", "bills", "--set", "lines=[7]", "--frozen");
  expect((await sample('context["total"] = len(context["lines"])', 1)).code).toBe(0);
  await writeChain(cwd, "plain", { one: "pass" });
  expect((await nova(cwd, "test", "plain", "--samples", "2")).stdout).toBe(
    "no node has a prompt, so no code can be sampled\n",
  );
});
