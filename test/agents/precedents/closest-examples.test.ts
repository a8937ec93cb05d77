import type { Generation } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { createPinnedCodes } from "../../../packages/agents/src/lock/pinned-codes.ts";
import { cosine, earlierExamples } from "../../../packages/agents/src/precedents/closest-examples.ts";
import { MemoryGenerations } from "../../support/memory-generations.ts";
import { generator, taskWith, written } from "../lock/tasks.ts";

/** The embedding of the current task; the embeddings of earlier tasks are at an angle to it. */
const here = [1, 0, 0];
const near = [0.9, 0.1, 0];
const closer = [0.99, 0.01, 0];
const far = [0, 1, 0];

let number = 0;

function generation(changes: Partial<Generation> & { prompt?: string; nodeType?: string } = {}): Generation {
  const { prompt = "Add up the lines", nodeType = "action", ...rest } = changes;
  number += 1;
  return {
    format: 1,
    workflowId: "bills",
    node: "sum",
    client: null,
    key: `${number}`,
    codeHash: `${number}`,
    ingredients: { prompt, node_type: nodeType } as Generation["ingredients"],
    code: `context["sum"] = ${number}`,
    status: "pinned",
    origin: "generated",
    model: "m",
    cost: { usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 },
    createdAt: "2026-11-22T10:00:00.000Z",
    embedding: near,
    ...rest,
  } as Generation;
}

function closestIn(generations: Generation[], task = taskWith()) {
  return earlierExamples({ ofWorkflow: async () => generations }, task, here);
}

async function chosen(generations: Generation[], task = taskWith()): Promise<string[]> {
  return (await closestIn(generations, task)).map(({ code }) => code);
}

describe("the cosine between two vectors", () => {
  it.each([
    [[1, 0], [1, 0], 1],
    [[1, 0], [5, 0], 1],
    [[1, 0], [0, 2], 0],
    [[1, 0], [-3, 0], -1],
    [[3, 4], [4, 3], 0.96],
    [[0, 0], [1, 0], 0],
    [[1, 0], [1, 0, 0], 0],
    [[], [], 0],
  ])("for %j and %j is %f", (a, b, expected) => {
    expect(cosine(a, b)).toBeCloseTo(expected, 12);
  });
});

describe("the closest examples for the code generator", () => {
  it("are sorted by the similarity of their prompts, and include these prompts", async () => {
    const other = generation({ prompt: "Sum the items", embedding: closer, code: "b" });
    expect(await closestIn([generation({ code: "a" }), other])).toEqual([
      { task: "Sum the items", code: "b" },
      { task: "Add up the lines", code: "a" },
    ]);
  });

  it("are at most two, and newer examples come first among equally close ones", async () => {
    const [old, newer, newest] = ["21", "22", "23"].map((day) =>
      generation({ code: day, createdAt: `2026-11-${day}` }),
    );
    expect(await chosen([old, newest, newer] as Generation[])).toEqual(["23", "22"]);
  });

  it("exclude code of the node itself if this code is being written again", async () => {
    const task = taskWith({ fresh: true });
    const own = { ...generation({ code: "own" }), node: task.node.id };
    const other = { ...generation({ code: "other" }), node: "other" };
    expect(await chosen([own, other], task)).toEqual(["other"]);
    expect(await chosen([own, other])).toContain("own");
  });

  it.each<[string, Parameters<typeof generation>[0]]>([
    ["for another prompt", { embedding: far }],
    ["with an embedding of another model", { embedding: [1, 0] }],
    ["without an embedding", { embedding: undefined as never }],
    ["that no run has proven", { status: "candidate" }],
    ["that was replaced because it failed", { status: "replaced", provenBy: "exec_1" }],
    ["of another type of node", { nodeType: "decision" }],
    ["of another client", { client: "globex" }],
    ["whose prompt is only a hash", { prompt: `sha256:${"a".repeat(64)}` }],
    ["that is too long for a prompt to a model", { code: "#".repeat(3_300) }],
  ])("exclude code %s", async (_, changes) => {
    expect(await chosen([generation(changes)])).toEqual([]);
  });

  it("include proven code that waits for approval, and code of the client itself", async () => {
    const waiting = generation({ status: "candidate", provenBy: "exec_1", code: "a" });
    const own = generation({ client: "acme", code: "b" });
    expect((await chosen([waiting, own], taskWith({ client: "acme" }))).sort()).toEqual(["a", "b"]);
  });

  it("include a second example only if it is short enough and has different code", async () => {
    const first = generation({ code: "1".repeat(2_000), embedding: closer });
    const long = generation({ code: "2".repeat(2_000) });
    const same = generation({ code: first.code });
    const short = generation({ code: "3", createdAt: "2026-01-01" });
    expect(await chosen([long, same, short, first])).toEqual([first.code, "3"]);
  });
});

const kept = {
  workflowId: "bills",
  client: null,
  status: "pinned",
  ingredients: { prompt: "Sum the items", node_type: "action" },
  code: 'context["sum"] = 1',
  createdAt: "2026-11-22T10:00:00.000Z",
  embedding: [0.6, 0.8],
} as unknown as Generation;

describe("earlier examples of code", () => {
  it("are read from the workflow of the node", async () => {
    const asked: string[] = [];
    const precedents = {
      async ofWorkflow(workflowId: string) {
        asked.push(workflowId);
        return [kept];
      },
    };
    const examples = await earlierExamples(precedents, taskWith(), [0.6, 0.8]);
    expect(asked).toEqual(["bills"]);
    expect(examples).toEqual([{ task: "Sum the items", code: kept.code }]);
  });
});

async function keepCode(store: MemoryGenerations, more: { embedding?: number[] } = {}): Promise<void> {
  const pinned = createPinnedCodes({ store, generator, readsOf: async () => written.reads, clock: { now: () => 0 } });
  await pinned.keep(taskWith(), { ...written, guides: [], ...more });
}

it("a node finds code of another node whose prompt has the same meaning", async () => {
  const generations = new MemoryGenerations();
  await keepCode(generations, { embedding: [0.9, 0.1] });
  const task = taskWith({ node: { id: "add" }, executor: { prompt: "Sum what is in the list" } });
  const examples = await earlierExamples(generations, task, [1, 0]);
  expect(examples).toMatchObject([{ task: "Add up the lines.", code: written.code }]);
});

it("code is stored without an embedding if there is none for its prompt", async () => {
  const generations = new MemoryGenerations();
  await keepCode(generations);
  expect(generations.all).toMatchObject([{ code: written.code, status: "pinned" }]);
  expect(generations.all[0]).not.toHaveProperty("embedding");
});
