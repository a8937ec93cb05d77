import { rm } from "node:fs/promises";
import { join } from "node:path";
import { currentGenerator } from "@nova/agents";
import type { LockedCode } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { lockStates, readLockFolder } from "../../../packages/cli/src/lock/folder.ts";
import { inARow } from "../../support/cloud.ts";
import { approved, lockedOf, locking, makeFolder, promptOf, sum, writeFiles } from "./folders.ts";

/**
 * Makes a folder with the prompt node `sum`, locks its code, and changes the folder by `happened`. Returns the states
 * that `nova lock --check` reports for the nodes.
 */
async function stateAfter(
  happened: (folder: string) => Promise<void>,
  { workflow = {}, locked = {} }: { workflow?: object; locked?: Partial<LockedCode> } = {},
) {
  const folder = await makeFolder({ sum }, { workflow });
  await locking(folder, { sum: { ...lockedOf(promptOf(folder)), ...locked } });
  await happened(folder.folder);
  return lockStates(await readLockFolder(folder.folder), currentGenerator);
}

function rewrite(nodes: Record<string, object>, workflow: object = {}) {
  return (folder: string) => writeFiles(folder, { "workflow.json": JSON.stringify(inARow("bills", nodes, workflow)) });
}

const nothing = async () => undefined;

describe("the state of a node in nova lock --check", () => {
  it('is "locked" if nothing has changed', async () => {
    expect(await stateAfter(nothing)).toEqual([
      { node: "sum", state: "locked", changes: [], record: expect.objectContaining({ provenBy: "exec_01" }) },
    ]);
  });

  it.each<[string, string, (folder: string) => Promise<void>]>([
    ["the code of the node was edited", "edited", (folder) => writeFiles(folder, { "generated/sum.py": "total = 7" })],
    ["the code of the node is gone", "missing", (folder) => rm(join(folder, "generated"), { recursive: true })],
    ["the lock is gone", "unlocked", (folder) => rm(join(folder, "workflow.lock.json"))],
  ])('changes if %s, and is then "%s"', async (_, state, happened) => {
    expect(await stateAfter(happened)).toMatchObject([{ node: "sum", state }]);
  });

  it.each<[string, string[], (folder: string) => Promise<void>]>([
    ["the prompt", ["prompt"], rewrite({ sum: { ...sum, prompt: "Add them up." } })],
    ["the model", ["model"], rewrite({ sum: { ...sum, model: "gpt-6.1-terra" } })],
    ["the requirements", ["requirements"], rewrite({ sum }, { requirements: ["lxml"] })],
    ["a module", ["lib.mails.py"], (folder) => writeFiles(folder, { "lib/mails.py": "a = 1" })],
    ["two things", ["prompt", "requirements"], rewrite({ sum: { ...sum, prompt: "x" } }, { requirements: ["lxml"] })],
  ])('is "stale" after a change of %s, and the state names the change', async (_, ingredients, happened) => {
    const [state] = await stateAfter(happened);
    expect(state?.state).toBe("stale");
    expect(state?.changes.map(({ ingredient }) => ingredient)).toEqual(ingredients);
  });

  it('is "stale" if the user has changed the key of the node in the lock file', async () => {
    expect(await stateAfter(nothing, { locked: { key: "0".repeat(64) } })).toMatchObject([
      { state: "stale", changes: [] },
    ]);
  });

  it('stays "locked" after changes that do not affect the code of the node', async () => {
    const changed = { ...sum, timeout: 60, limits: { max_cost_usd: 1 }, ai: { samples: false } };
    expect(await stateAfter(rewrite({ sum: changed }, { name: "Other" }))).toMatchObject([{ state: "locked" }]);
  });

  it('is "unapproved" if the workflow requires an approval that the node lacks', async () => {
    const workflow = { approval: "required" };
    expect(await stateAfter(nothing, { workflow })).toMatchObject([{ state: "unapproved" }]);
    expect(await stateAfter(nothing, { workflow, locked: { approved } })).toMatchObject([{ state: "locked" }]);
  });

  it('is "stranger" if the workflow has no prompt node with this id any more', async () => {
    expect(await stateAfter(rewrite({ total: sum }))).toMatchObject([
      { node: "total", state: "unlocked" },
      { node: "sum", state: "stranger" },
    ]);
  });
});
