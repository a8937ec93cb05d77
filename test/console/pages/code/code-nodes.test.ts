import type { Schemas } from "@nova/client";
import { describe, expect, it } from "vitest";
import { buildCodeNodes, compareCodeNodes } from "../../../../packages/console/src/pages/code/code-nodes.ts";

const then = { prompt: "Add.", node_type: "action", edges: [], model: "default", requirements: [], lib: {} };

function generation(code: string, more: Partial<Schemas["Generation"]> = {}): Schemas["Generation"] {
  return {
    node: "sum",
    client_slug: null,
    status: "pinned",
    key: "k",
    ingredients: then,
    code,
    code_hash: code,
    analysis: null,
    analysis_hash: null,
    origin: "generated",
    model: "gpt-6",
    cost: { usd: 0.01, tokens_input: 1, tokens_cached: 0, tokens_output: 1 },
    created_at: "2026-11-25T10:00:00.000Z",
    proven_by: null,
    approved: null,
    ...more,
  };
}

function workflow(more: object = {}, prompt = "Add.") {
  return {
    requirements: [],
    lib: {},
    edges: [],
    ...more,
    nodes: [{ id: "sum", type: "action", executor: { kind: "prompt", prompt } }],
  };
}

const nodesOf = (definition: object, ...generations: Schemas["Generation"][]) =>
  buildCodeNodes({ workflow: "bills", definition, generations }, async (text) => `digest of ${text}`);

const approved = { by: "mo", at: "2026-11-25T11:00:00.000Z" };

describe("the state of a prompt node", () => {
  it("is that its code runs, where it is pinned and the definition says the same", async () => {
    expect(await nodesOf(workflow(), generation("a"))).toMatchObject([{ state: "runs", current: { code: "a" } }]);
  });

  it("is stale once the definition says something else", async () => {
    const [node] = await nodesOf(workflow({}, "Add it all up."), generation("a"));
    expect(node).toMatchObject({ state: "stale", current: { changes: [{ ingredient: "prompt" }] } });
  });

  it("is stale once the node is gone", async () => {
    const [node] = await nodesOf(workflow(), generation("a", { node: "gone" }));
    expect(node).toMatchObject({ state: "stale", current: { changes: undefined } });
  });

  it("is that it waits, where only approved code runs and nobody has approved it", async () => {
    const needs = workflow({ approval: "required" });
    expect(await nodesOf(needs, generation("a", { status: "candidate" }))).toMatchObject([{ state: "waits" }]);
    expect(await nodesOf(needs, generation("a", { approved }))).toMatchObject([{ state: "runs" }]);
  });

  it("is that no run has proven it, where it is a candidate", async () => {
    expect(await nodesOf(workflow(), generation("a", { status: "candidate" }))).toMatchObject([{ state: "candidate" }]);
  });

  it("is out of use where everything was rejected or replaced", async () => {
    expect(await nodesOf(workflow(), generation("a", { status: "replaced" }))).toMatchObject([{ state: "replaced" }]);
  });
});

describe("the code that counts", () => {
  it("is what fits today, not what is newest", async () => {
    const older = generation("fits", { created_at: "2026-11-24T10:00:00.000Z" });
    const newer = generation("stale", { ingredients: { ...then, prompt: "Multiply." } });
    const [node] = await nodesOf(workflow(), older, newer);
    expect(node).toMatchObject({ state: "runs", current: { code: "fits" } });
    expect(node?.versions.map(({ code }) => code)).toEqual(["stale", "fits"]);
  });

  it("is that of the lock file before that of the store", async () => {
    const locked = {
      key: "k",
      codeHash: "h",
      origin: "edited",
      model: "gpt-6",
      ingredients: then,
      code: "locked",
      cost: { usd: 0.5 },
      createdAt: "2026-11-01T10:00:00.000Z",
      provenBy: "exec_1",
      approved,
    };
    const [node] = await nodesOf(workflow({ lock: { sum: locked } }), generation("stored"));
    expect(node).toMatchObject({
      state: "runs",
      current: { code: "locked", status: "locked", code_hash: "h", approved },
    });
    expect(node?.current).toMatchObject({ proven_by: "exec_1", cost: { usd: 0.5, tokens_input: 0 } });
  });

  it("is kept apart for each client that has code of its own", async () => {
    const nodes = await nodesOf(workflow(), generation("a", { client_slug: "acme" }), generation("b"));
    expect(nodes.map(({ key }) => key)).toEqual(["bills/sum/acme", "bills/sum/"]);
  });
});

it("puts first what somebody has to look at", async () => {
  const needs = workflow({ approval: "required" });
  const nodes = await nodesOf(
    needs,
    generation("a", { approved }),
    generation("b", { client_slug: "acme", ingredients: { ...then, prompt: "Old." } }),
    generation("c", { client_slug: "globex", status: "candidate" }),
  );
  expect(nodes.sort(compareCodeNodes).map(({ state }) => state)).toEqual(["waits", "stale", "runs"]);
});
