import {
  type AgentTask,
  type Generation,
  generationId,
  type Pipeline,
  type PipelineMeans,
  type PromptTask,
  type TextMeans,
  type TextTask,
} from "@nova/engine";
import { codeHashOf, hashOf } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { choosePinned } from "../../../packages/agents/src/lock/choose.ts";
import {
  createPinnedCodes,
  frozenPipeline,
  modelFreePipeline,
} from "../../../packages/agents/src/lock/pinned-codes.ts";
import { MemoryGenerations } from "../../support/memory-generations.ts";
import { generator, type TaskChanges, taskWith, type WrittenCode, written } from "./tasks.ts";

let store: MemoryGenerations;
beforeEach(() => {
  store = new MemoryGenerations();
});

const later: WrittenCode = { ...written, code: "total = 2", createdAt: "2026-11-22T10:00:05.000Z" };

/** Stores code, and returns a copy of it as it is stored. */
async function keep(changes: TaskChanges = {}, code: WrittenCode = written, proven = true): Promise<Generation> {
  const { reads, createdAt, guides, ...same } = code;
  const clock = { now: () => Date.parse(createdAt) };
  const codes = createPinnedCodes({ store, generator, readsOf: async () => reads, clock });
  const known = store.all.slice();
  const id = await codes[proven ? "keep" : "propose"](taskWith(changes), {
    ...same,
    guides: guides.map((name) => ({ name })),
  });
  const stored = store.all.find((one) => (id === undefined ? !known.includes(one) : generationId(one) === id));
  return structuredClone(stored as Generation);
}

function statuses(): Record<string, string> {
  return Object.fromEntries(store.all.map(({ code, status }) => [code, status]));
}

describe("code that has succeeded in a run", () => {
  it("is pinned together with its prompt, models and types, its costs and the run that proved it", async () => {
    await keep();
    expect(store.all).toEqual([
      {
        format: 1,
        workflowId: "bills",
        node: "sum",
        client: null,
        status: "pinned",
        origin: "generated",
        code: written.code,
        cost: written.cost,
        model: "gpt-6-luna",
        createdAt: written.createdAt,
        key: expect.stringMatching(/^[0-9a-f]{64}$/),
        codeHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        ingredients: expect.objectContaining({ reads: { lines: "list", "order.discount?": "number" } }),
        provenBy: "exec_01",
      },
    ]);
    expect(choosePinned(taskWith(), store.all, generator)?.code).toBe(written.code);
  });

  it("replaces pinned code from the same prompt, models and types, which stays stored as replaced code", async () => {
    await keep();
    await keep({ execution: "exec_02" }, later);
    expect(statuses()).toEqual({ [written.code]: "replaced", "total = 2": "pinned" });
  });

  it("replaces pinned code that fits the same input but reads other keys", async () => {
    await keep();
    await keep({}, { ...later, reads: [] });
    expect(statuses()).toEqual({ [written.code]: "replaced", "total = 2": "pinned" });
  });

  it("does not replace code that was made for another input or another prompt", async () => {
    await keep({ input: '{"lines": "1, 2"}' });
    await keep({ executor: { prompt: "Else" } }, { ...written, code: "else" });
    await keep({}, later);
    expect(Object.values(statuses())).toEqual(["pinned", "pinned", "pinned"]);
  });

  it("is stored once when its node is delivered twice", async () => {
    const first = await keep();
    expect(await keep({}, { ...written, createdAt: later.createdAt })).toEqual(first);
    expect(store.all).toHaveLength(1);
  });

  it("stays replaced when a late delivery of an old run stores it again", async () => {
    await keep();
    await keep({ execution: "exec_02" }, later);
    await keep();
    expect(statuses()).toEqual({ [written.code]: "replaced", "total = 2": "pinned" });
  });

  it("is pinned again when another run proves it again", async () => {
    await keep();
    await keep({ execution: "exec_02" }, later);
    await keep({ execution: "exec_03" });
    expect(statuses()).toEqual({ [written.code]: "pinned", "total = 2": "replaced" });
  });

  it("replaces locked code that failed, whether or not the store also has the failed code", async () => {
    const workflow = { lock: { sum: await keep() } };
    for (const all of [store.all.slice(), []]) {
      store.all.splice(0, store.all.length, ...all);
      await keep({ workflow, execution: "exec_02" }, later);
      expect(statuses()).toEqual({ [written.code]: "replaced", "total = 2": "pinned" });
      expect(choosePinned(taskWith({ workflow }), store.all, generator)?.code).toBe("total = 2");
      expect(choosePinned(taskWith({ workflow, frozen: true }), store.all, generator)?.code).toBe(written.code);
    }
  });

  it("replaces pinned and locked code if its node was named in `fresh`, but the replaced code stays stored", async () => {
    const old = await keep();
    const workflow = { lock: { sum: old } };
    await keep({ workflow, execution: "exec_02", fresh: true }, later);
    expect(statuses()).toEqual({ [written.code]: "replaced", "total = 2": "pinned" });
    expect(choosePinned(taskWith({ workflow, execution: "exec_03" }), store.all, generator)?.code).toBe("total = 2");
  });

  it("does not replace locked code that was made from another prompt or other models", async () => {
    const workflow = { lock: { sum: await keep({ executor: { prompt: "Else" } }) } };
    store.all.length = 0;
    await keep({ workflow }, later);
    expect(store.all).toHaveLength(1);
  });

  it("is stored for each client separately only if the workflow has the scope `client`", async () => {
    await keep({ client: "acme" });
    await keep({ client: "acme", workflow: { scope: "client" } });
    await keep({ client: "bolt", workflow: { scope: "client" } });
    expect(store.all.map(({ client, status }) => [client, status])).toEqual([
      [null, "pinned"],
      ["acme", "pinned"],
      ["bolt", "pinned"],
    ]);
  });
});

describe("code that reads the result of an analysis", () => {
  const both: WrittenCode = { ...written, analysis: "result = {}" };

  it("is stored together with its analysis under one hash", async () => {
    const kept = await keep({}, both);
    expect(kept).toMatchObject({ code: written.code, analysis: "result = {}" });
    expect([kept.codeHash, kept.analysisHash]).toEqual([codeHashOf(both), hashOf("result = {}")]);
    expect(choosePinned(taskWith(), store.all, generator)).toEqual({
      generation: generationId(kept),
      code: written.code,
      analysis: "result = {}",
    });
  });

  it("is stored as new code if it succeeds with another analysis or without one", async () => {
    await keep({}, both);
    await keep({ execution: "exec_02" }, { ...both, analysis: "result = {'a': 1}", createdAt: later.createdAt });
    await keep({ execution: "exec_03" }, { ...written, createdAt: "2026-11-22T10:00:09.000Z" });
    expect(store.all.map(({ analysis, status }) => [analysis, status])).toEqual([
      ["result = {}", "replaced"],
      ["result = {'a': 1}", "replaced"],
      [undefined, "pinned"],
    ]);
    expect(new Set(store.all.map(generationId)).size).toBe(3);
  });

  it("is approved only together with the analysis", async () => {
    const workflow = { approval: "required" } as const;
    const approved = { by: "ada", at: "2026-11-22T11:00:00.000Z" };
    await store.update(await keep({ workflow }, both), { approved });
    expect(await keep({ workflow }, { ...both, analysis: "result = 1" })).toMatchObject({ status: "candidate" });
  });

  it("is stored as replaced, together with its analysis, if only the lockfile had it", async () => {
    const workflow = { lock: { sum: await keep({}, both) } };
    store.all.length = 0;
    await keep({ workflow, execution: "exec_02" }, later);
    expect(store.all).toMatchObject([{ status: "pinned" }, { status: "replaced", analysis: "result = {}" }]);
  });
});

describe("code that waits for proof in a run or for approval", () => {
  it("is a candidate until a run has proven it, and replaces no code before then", async () => {
    await keep();
    await keep({}, later, false);
    expect(statuses()).toEqual({ [written.code]: "pinned", "total = 2": "candidate" });
    await keep({}, later);
    expect(statuses()).toEqual({ [written.code]: "replaced", "total = 2": "pinned" });
  });

  it("is a candidate until it is approved, even after a run has proven it", async () => {
    const workflow = { approval: "required" } as const;
    const kept = await keep({ workflow });
    expect(kept).toMatchObject({ status: "candidate", provenBy: "exec_01" });
    await store.update(kept, { approved: { by: "ada", at: "2026-11-22T11:00:00.000Z" } });
    expect(await keep({ workflow, execution: "exec_02" })).toMatchObject({ status: "pinned", provenBy: "exec_02" });
  });
});

describe("generated code in the store of pinned code", () => {
  const codes = () =>
    createPinnedCodes({
      store,
      generator,
      readsOf: async () => written.reads,
      clock: { now: () => Date.parse(written.createdAt) },
    });
  const proven = { code: written.code, model: written.model, cost: written.cost };
  const guides = [{ name: "money", text: "", hash: "" }];

  it("can be chosen for the next run, and can be found by its id", async () => {
    expect(await codes().choose(taskWith())).toBeNull();
    const id = await codes().keep(taskWith(), { ...proven, guides });
    const [kept] = store.all;
    expect(kept).toMatchObject({ createdAt: written.createdAt, ingredients: { guides: { money: "b".repeat(64) } } });
    expect(id).toBe(kept && generationId(kept));
    expect(await codes().choose(taskWith())).toEqual({ generation: id, code: written.code });
    expect(await codes().find(taskWith(), id ?? "")).toEqual({ generation: id, code: written.code });
  });

  it("is stored with the keys of the context that it and its analysis read, but without the key of the analysis result", async () => {
    const readsOf = async (source: string) =>
      source === "look"
        ? [
            { path: "lines", optional: true },
            { path: "other", optional: false },
          ]
        : [...written.reads, { path: "_data_analysis.rows", optional: false }];
    const clock = { now: () => Date.parse(written.createdAt) };
    const pinned = createPinnedCodes({ store, generator, readsOf, clock });
    await pinned.keep(taskWith(), { ...proven, analysis: "look", guides });
    expect(store.all[0]?.ingredients.reads).toEqual({ lines: "list", "order.discount?": "number", other: "boolean" });
    expect(await pinned.choose(taskWith())).toMatchObject({ analysis: "look" });
    expect(await pinned.choose(taskWith({ input: '{"lines": [], "other": "yes"}' }))).toBeNull();
  });

  it("is not read from the store in a frozen run of a workflow with a lock", async () => {
    const lock = { sum: await keep() };
    store = Object.assign(new MemoryGenerations(), { of: () => Promise.reject(new Error("nobody asks the store")) });
    expect((await codes().choose(taskWith({ workflow: { lock }, frozen: true })))?.code).toBe(written.code);
    expect(await codes().choose(taskWith({ workflow: { lock: {} }, frozen: true }))).toBeNull();
  });

  it("is stored as unapproved, and is reported as waiting until a person approves it", async () => {
    const task = taskWith({ workflow: { approval: "required" } });
    expect(await codes().missing(task)).toMatchObject({
      waits: false,
      message: expect.stringContaining("no locked code"),
    });
    await codes().propose(task, { ...proven, guides });
    expect(store.all).toMatchObject([{ status: "candidate", code: written.code }]);
    expect(store.all[0]).not.toHaveProperty("provenBy");
    expect(await codes().choose(task)).toBeNull();
    expect(await codes().missing(task)).toMatchObject({
      waits: true,
      message: expect.stringContaining("nobody has approved"),
    });
  });

  it("is not used for other clients if the workflow has the scope `client`", async () => {
    const workflow = { scope: "client" } as const;
    await codes().keep(taskWith({ workflow, client: "acme" }), { ...proven, guides });
    expect(await codes().choose(taskWith({ workflow, client: "acme" }))).not.toBeNull();
    expect(await codes().choose(taskWith({ workflow, client: "bolt" }))).toBeNull();
  });
});

it("the pipeline of a frozen run marks every task as frozen, and changes nothing else", async () => {
  const seen: unknown[][] = [];
  const told = (...call: unknown[]) => {
    seen.push(call);
    return Promise.resolve(null as never);
  };
  const pipeline: Pipeline = { pinned: told, generation: told, run: told, answer: told, converse: told };
  const means = {} as PipelineMeans;
  const task = taskWith();
  const pinned = { generation: "g", code: "a = 1" };
  const frozen = frozenPipeline(pipeline);
  await frozen.pinned(task);
  await frozen.generation(task, "g");
  await frozen.run(task, means, pinned);
  const expected: PromptTask = { ...task, frozen: true };
  expect(seen).toEqual([[expected], [expected, "g"], [expected, means, pinned]]);
  expect(task.frozen).toBe(false);
});

it("text nodes and agents ask their models in a frozen pipeline, and fail in a pipeline without models", async () => {
  const asked: unknown[] = [];
  const answer: Pipeline["answer"] = async (task) => {
    asked.push(task);
    return null as never;
  };
  const refuse = () => Promise.reject(new RangeError("nobody asks for code"));
  const pipeline: Pipeline = { pinned: refuse, generation: refuse, run: refuse, answer, converse: answer };
  const task = { node: { id: "edit" } } as TextTask;
  const agent = { node: { id: "edit" } } as AgentTask;
  await frozenPipeline(pipeline).answer(task, {} as TextMeans);
  await frozenPipeline(pipeline).converse(agent, {} as TextMeans);
  expect(asked).toEqual([task, agent]);
  const free = modelFreePipeline(pipeline);
  for (const refused of [await free.answer(task, {} as TextMeans), await free.converse(agent, {} as TextMeans)]) {
    expect(refused).toMatchObject({
      status: "failed",
      class: "NodeFailed",
      message: expect.stringMatching(/node "edit" would ask a model, and models are off/),
    });
  }
  expect(asked).toHaveLength(2);
});
