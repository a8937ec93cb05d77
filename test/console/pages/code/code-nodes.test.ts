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
  it('is "runs" for pinned code of an unchanged definition', async () => {
    expect(await nodesOf(workflow(), generation("a"))).toMatchObject([{ state: "runs", current: { code: "a" } }]);
  });

  it('is "stale" after a change of the definition', async () => {
    const [node] = await nodesOf(workflow({}, "Add it all up."), generation("a"));
    expect(node).toMatchObject({ state: "stale", current: { changes: [{ ingredient: "prompt" }] } });
  });

  it('is "stale" after the node is deleted', async () => {
    const [node] = await nodesOf(workflow(), generation("a", { node: "gone" }));
    expect(node).toMatchObject({ state: "stale", current: { changes: undefined } });
  });

  it('is "waits" for unapproved code if the workflow requires approval', async () => {
    const needs = workflow({ approval: "required" });
    expect(await nodesOf(needs, generation("a", { status: "candidate" }))).toMatchObject([{ state: "waits" }]);
    expect(await nodesOf(needs, generation("a", { approved }))).toMatchObject([{ state: "runs" }]);
  });

  it('is "candidate" for unproven code', async () => {
    expect(await nodesOf(workflow(), generation("a", { status: "candidate" }))).toMatchObject([{ state: "candidate" }]);
  });

  it('is "replaced" if all its code was rejected or replaced', async () => {
    expect(await nodesOf(workflow(), generation("a", { status: "replaced" }))).toMatchObject([{ state: "replaced" }]);
  });
});

describe("the current code of a node", () => {
  it("is the version that fits the definition, not the newest one", async () => {
    const older = generation("fits", { created_at: "2026-11-24T10:00:00.000Z" });
    const newer = generation("stale", { ingredients: { ...then, prompt: "Multiply." } });
    const [node] = await nodesOf(workflow(), older, newer);
    expect(node).toMatchObject({ state: "runs", current: { code: "fits" } });
    expect(node?.versions.map(({ code }) => code)).toEqual(["stale", "fits"]);
  });

  it("comes from the lock file before the store", async () => {
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

  it("is separate for each client with code of its own", async () => {
    const nodes = await nodesOf(workflow(), generation("a", { client_slug: "acme" }), generation("b"));
    expect(nodes.map(({ key }) => key)).toEqual(["bills/sum/acme", "bills/sum/"]);
  });
});

it("sorts nodes that need attention first", async () => {
  const needs = workflow({ approval: "required" });
  const nodes = await nodesOf(
    needs,
    generation("a", { approved }),
    generation("b", { client_slug: "acme", ingredients: { ...then, prompt: "Old." } }),
    generation("c", { client_slug: "globex", status: "candidate" }),
  );
  expect(nodes.sort(compareCodeNodes).map(({ state }) => state)).toEqual(["waits", "stale", "runs"]);
});
