import { rm } from "node:fs/promises";
import { join } from "node:path";
import { currentGenerator } from "@nova/agents";
import { type Generation, RawJson, type TraceEntry } from "@nova/engine";
import { codeHashOf, hashOf, type LockedCode } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import type { Recorded } from "../../../packages/cli/src/api/recorded.ts";
import { type LockFolder, readLockFolder } from "../../../packages/cli/src/lock/folder.ts";
import { type PlanSources, planLock } from "../../../packages/cli/src/lock/plan.ts";
import {
  analysis,
  approved,
  generationOf,
  lockedOf,
  locking,
  makeFolder,
  promptOf,
  sum,
  twoStages,
  writeFiles,
} from "./folders.ts";

const now = "2026-11-22T12:00:00.000Z";
const other = 'context["total"] = 8';

function ran(code: string, input = '{"lines": [1]}', execution = "exec_09", analysis?: string): Recorded {
  const ai_metadata = { analysis_metadata: analysis === undefined ? null : { analysis_code: analysis } };
  const entry = { code_hash: hashOf(code), input_context: new RawJson(input), status: "success", ai_metadata };
  return { execution: { id: execution }, entry: entry as unknown as TraceEntry, before: [] } as unknown as Recorded;
}

function sources(fields: Partial<PlanSources> = {}): PlanSources {
  const readsOf = async (code: string) => (code.includes("lines") ? [{ path: "lines", optional: false }] : []);
  return { used: () => null, generations: [], generator: currentGenerator, readsOf, now, ...fields };
}

async function planned(folder: LockFolder, fields: Partial<PlanSources> = {}) {
  const [first] = await planLock(folder, sources(fields));
  return first;
}

describe("the plan of nova lock for a node without locked code", () => {
  it("locks the code that ran last, not the newest code", async () => {
    const folder = await makeFolder();
    const [old, young] = [
      generationOf(promptOf(folder)),
      generationOf(promptOf(folder), { code: other, createdAt: now }),
    ];
    const plan = await planned(folder, { generations: [young, old], used: () => ran(old.code) });
    expect(plan).toEqual({ node: "sum", action: "added", locked: lockedOf(promptOf(folder)) });
  });

  it.each<[string, Partial<Generation>[], string | null]>([
    ["nothing if no code is stored", [], null],
    ["pinned code rather than a candidate", [{ status: "candidate", createdAt: now, code: "a" }, { code: "b" }], "b"],
    ["a candidate if there is no pinned code", [{ status: "candidate", code: "a" }], "a"],
    ["no code that was replaced", [{ status: "replaced" }], null],
    ["the newer of two stored codes", [{ code: "a" }, { code: "b", createdAt: now }], "b"],
    ["no code of another node", [{ node: "other" }], null],
    ["no code for another definition", [{ key: "0".repeat(64) }], null],
  ])("locks %s (no run of the node is known)", async (_, kept, code) => {
    const folder = await makeFolder();
    const generations = kept.map((fields) => generationOf(promptOf(folder), fields));
    const plan = await planned(folder, { generations });
    expect([plan?.action, plan?.locked?.code ?? null]).toEqual([code === null ? "none" : "added", code]);
  });

  it("locks no code that ran for another prompt than the current prompt", async () => {
    const folder = await makeFolder();
    const before = await makeFolder({ sum: { ...sum, prompt: "Else" } });
    const generation = generationOf(promptOf(before));
    expect(await planned(folder, { generations: [generation], used: () => ran(generation.code) })).toEqual({
      node: "sum",
      action: "none",
    });
  });
});

describe("the plan of nova lock for a node with locked code", () => {
  const lockedFolder = async (fields: Partial<LockedCode> = {}) => {
    const folder = await makeFolder();
    return locking(folder, { sum: { ...lockedOf(promptOf(folder)), ...fields } });
  };

  it("keeps the locked code if it ran last", async () => {
    const folder = await lockedFolder({ approved });
    const generations = [
      generationOf(promptOf(folder)),
      generationOf(promptOf(folder), { code: other, createdAt: now }),
    ];
    const plan = await planned(folder, { generations, used: () => ran(lockedOf(promptOf(folder)).code) });
    expect(plan).toEqual({ node: "sum", action: "unchanged", locked: { ...lockedOf(promptOf(folder)), approved } });
  });

  it("keeps the locked code if this machine has no records of runs", async () => {
    expect(await planned(await lockedFolder())).toMatchObject({ action: "unchanged" });
  });

  it("locks other code without an approval if that code ran last", async () => {
    const folder = await lockedFolder({ approved });
    const generations = [generationOf(promptOf(folder), { code: other })];
    const plan = await planned(folder, { generations, used: () => ran(other) });
    expect(plan).toEqual({ node: "sum", action: "updated", locked: lockedOf(promptOf(folder), { code: other }) });
  });

  it("keeps the approval if the code that is stored for a new definition equals the locked code", async () => {
    const folder = await lockedFolder({ approved, key: "0".repeat(64) });
    const plan = await planned(folder, { generations: [generationOf(promptOf(folder))] });
    expect(plan).toMatchObject({ action: "updated", locked: { approved, key: generationOf(promptOf(folder)).key } });
  });

  it("keeps stale code in the lock, although no run can use this code", async () => {
    expect(await planned(await lockedFolder({ key: "0".repeat(64) }))).toMatchObject({ action: "unchanged" });
  });

  it("records the run that has proven an edit of the locked code", async () => {
    const { provenBy: _, ...unproven } = lockedOf(promptOf(await makeFolder()));
    const folder = await makeFolder();
    const locked = await locking(folder, { sum: { ...unproven, origin: "edited" } });
    const plan = await planned(locked, { used: () => ran(unproven.code) });
    expect(plan).toEqual({
      node: "sum",
      action: "updated",
      locked: { ...unproven, origin: "edited", provenBy: "exec_09" },
    });
  });

  it("restores a missing code file from stored code that is the same as the locked code", async () => {
    const folder = await lockedFolder({ approved });
    const files = { "generated/sum.py": "" };
    await writeFiles(folder.folder, files);
    const missing = {
      ...folder,
      entries: { sum: { record: lockedOf(promptOf(folder), { approved }), state: "missing" } },
    };
    const generations = [
      generationOf(promptOf(folder)),
      generationOf(promptOf(folder), { code: other, createdAt: now }),
    ];
    const plan = await planned(missing as unknown as LockFolder, { generations });
    expect(plan).toEqual({ node: "sum", action: "restored", locked: { ...lockedOf(promptOf(folder)), approved } });
  });
});

describe("the plan of nova lock for code with an analysis", () => {
  const both = (folder: LockFolder, fields: Partial<Generation> = {}) =>
    generationOf(promptOf(folder), { ...twoStages, ...fields });
  const other = 'result = {"sum": 0}';
  const otherLook = { analysis: other, analysisHash: hashOf(other) };

  async function edited(files: Record<string, string>) {
    const folder = await makeFolder();
    await locking(folder, { sum: lockedOf(promptOf(folder), { ...twoStages, approved }) });
    await writeFiles(folder.folder, files);
    return readLockFolder(folder.folder);
  }

  it("locks the code and the analysis that ran last, even if a newer analysis led to the same code", async () => {
    const folder = await makeFolder();
    const generations = [both(folder), both(folder, { ...otherLook, createdAt: now })];
    const plan = await planned(folder, {
      generations,
      used: () => ran(twoStages.code, undefined, undefined, analysis),
    });
    expect(plan).toEqual({ node: "sum", action: "added", locked: lockedOf(promptOf(folder), twoStages) });
  });

  it("keeps the approval only if the code and its analysis are unchanged", async () => {
    const made = await makeFolder();
    const folder = await locking(made, { sum: lockedOf(promptOf(made), { ...twoStages, approved }) });
    const generations = [both(folder, otherLook)];
    const used = () => ran(twoStages.code, undefined, undefined, other);
    const plan = await planned(folder, { generations, used });
    expect(plan).toEqual({
      node: "sum",
      action: "updated",
      locked: lockedOf(promptOf(folder), { ...twoStages, ...otherLook }),
    });
    expect(await planned(folder, { used: () => ran(twoStages.code, undefined, undefined, analysis) })).toMatchObject({
      action: "unchanged",
      locked: { approved },
    });
  });

  it("locks an edit of the code or of the analysis, with the keys that the edited files read", async () => {
    const folder = await edited({ "generated/sum.analysis.py": `${other}\n` });
    const plan = await planned(folder);
    expect(plan).toMatchObject({ action: "edited", locked: { code: twoStages.code, analysis: `${other}\n` } });
    expect(plan?.locked?.codeHash).toBe(codeHashOf(plan?.locked as LockedCode));
    expect(plan?.locked).not.toHaveProperty("approved");
    expect(plan?.locked?.ingredients.reads).toEqual({});
    const reading = await edited({ "generated/sum.py": 'a = context["_data_analysis"]' });
    expect((await planned(reading))?.locked).toMatchObject({ analysis, ingredients: { reads: { lines: "list" } } });
  });

  it("drops the analysis if the edited code does not need it", async () => {
    const plan = await planned(await edited({ "generated/sum.py": 'context["total"] = 0' }));
    expect(plan?.locked).not.toHaveProperty("analysis");
    expect(plan?.locked).not.toHaveProperty("analysisHash");
    expect(plan?.locked?.codeHash).toBe(hashOf('context["total"] = 0'));
  });

  it("fails if the code was edited and the file of its analysis is missing", async () => {
    const folder = await edited({ "generated/sum.py": "a = 1" });
    await rm(join(folder.folder, "generated/sum.analysis.py"));
    const read = await readLockFolder(folder.folder);
    await expect(planned(read)).rejects.toThrow(/sum\.py was edited, and generated\/sum\.analysis\.py.* is missing/);
  });
});

describe("the plan of nova lock for code that a user has edited", () => {
  const editedFolder = async (text: string) => {
    const folder = await makeFolder();
    await locking(folder, { sum: lockedOf(promptOf(folder), { approved }) });
    await writeFiles(folder.folder, { "generated/sum.py": text });
    return readLockFolder(folder.folder);
  };

  it("locks the edited code without a proof and without an approval", async () => {
    const folder = await editedFolder(`${other}\n`);
    const plan = await planned(folder, { generations: [generationOf(promptOf(folder))], used: () => ran("x") });
    const { provenBy: _, ...kept } = lockedOf(promptOf(folder));
    expect(plan).toEqual({
      node: "sum",
      action: "edited",
      locked: {
        ...kept,
        code: `${other}\n`,
        codeHash: hashOf(`${other}\n`),
        origin: "edited",
        createdAt: now,
        key: expect.not.stringMatching(kept.key),
        ingredients: { ...kept.ingredients, reads: {} },
      },
    });
  });

  it("takes the types of keys in the edited code from the last input of the node, or else from the old lock", async () => {
    const folder = await editedFolder('total = context["lines"]');
    const types = async (used: Recorded | null) =>
      (await planned(folder, { used: () => used }))?.locked?.ingredients.reads;
    expect(await types(ran("x", '{"lines": "1, 2"}'))).toEqual({ lines: "string" });
    expect(await types(null)).toEqual({ lines: "list" });
  });

  it("locks the edited code for the current definition of the node", async () => {
    const folder = await editedFolder(other);
    const changed = await makeFolder({ sum: { ...sum, prompt: "Add them up." } });
    const plan = await planned({ ...changed, entries: folder.entries });
    expect(plan?.locked?.ingredients.prompt).toBe("Add them up.");
  });
});
