import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readLockFolder } from "../../../packages/cli/src/lock/folder.ts";
import { inARow } from "../../support/cloud.ts";
import { newFolder, nova, writeChain } from "../support/nova.ts";
import { lockedOf, locking, promptOf, sum } from "./folders.ts";

let cwd: string;
const inputs = { properties: { password: { secret: true } } };

/** Records two runs of a node with hand-written code. `prove` then replaces this code by a prompt with locked code. */
beforeAll(async () => {
  cwd = await newFolder();
  await writeChain(cwd, "bills", { sum: 'context["total"] = sum(context["lines"])' });
  for (const lines of ["[1, 2]", "[]"]) {
    const set = ["--set", `lines=${lines}`, "--set", 'password="hunter2"'];
    expect(
      await nova(cwd, "run", "bills", ...set, "--file", `pdf=${join(cwd, "bills", "workflow.json")}`),
    ).toMatchObject({ code: 0 });
  }
});
afterAll(() => rm(cwd, { recursive: true }));

async function prove(code: string, node: object = {}) {
  const definition = inARow("bills", { sum: { ...sum, ...node } }, { inputs });
  await writeFile(join(cwd, "bills", "workflow.json"), JSON.stringify(definition));
  await rm(join(cwd, "bills", "workflow.lock.json"), { force: true });
  const folder = await readLockFolder(join(cwd, "bills"));
  await locking(folder, { sum: lockedOf(promptOf(folder), { code }) });
  const { code: exit, stdout, stderr } = await nova(cwd, "lock", "bills", "--prove", "5", "--json");
  return { exit, stderr, ...(stdout === "" ? {} : JSON.parse(stdout)) };
}

it("a proof of locked code finds equal outcomes in two runs, although the code does not get the secret", async () => {
  const { exit, same, nodes } = await prove('context["total"] = 0\nfor n in context["lines"]: context["total"] += n');
  expect({ exit, same }).toEqual({ exit: 0, same: true });
  expect(nodes).toMatchObject([{ node: "sum", refused: null, runs: [{}, {}] }]);
  for (const { outcome, withheld, differences } of nodes[0].runs) {
    expect({ outcome, withheld, differences }).toEqual({ outcome: "same", withheld: ["password"], differences: [] });
  }
});

it("a proof of locked code shows the recorded and the new value of each key that differs, newest run first", async () => {
  const { exit, same, nodes } = await prove(
    'context["total"] = len(context["lines"])\ncontext["pages"] = len(context["pdf"]) > 9',
  );
  expect({ exit, same }).toEqual({ exit: 1, same: false });
  const pages = { key: "pages", recorded: null, now: true };
  expect(nodes[0].runs).toMatchObject([
    { outcome: "differs", differences: [pages] },
    { outcome: "differs", differences: [pages, { key: "total", recorded: 3, now: 2 }] },
  ]);
});

it("a proof of locked code gives the code no network", async () => {
  const code = 'import socket\nsocket.create_connection(("127.0.0.1", 9), timeout=2)\ncontext["total"] = 1';
  const { exit, nodes } = await prove(code);
  expect(exit).toBe(1);
  expect(nodes[0].runs).toMatchObject([
    { outcome: "fails", error: expect.stringMatching(/ConnectionRefused/) },
    { outcome: "fails" },
  ]);
});

it("a proof of locked code refuses a node with effects", async () => {
  expect(await prove("a = 1", { effects: true })).toEqual({
    exit: 2,
    stderr: expect.stringMatching(/"sum" has "effects": true/),
  });
});
