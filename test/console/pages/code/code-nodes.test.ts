import { hash } from "node:crypto";
import type { Schemas } from "@nova/client";
import { conditionLabel } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import {
  buildCodeNodes,
  type CurrentIngredients,
  compareCodeNodes,
  findChanges,
  hashText,
  readIngredients,
} from "../../../../packages/console/src/pages/code/code-nodes.ts";

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

describe("the state that the console shows for a prompt node", () => {
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

  it('is "replaced" if all code of the node was rejected or replaced', async () => {
    expect(await nodesOf(workflow(), generation("a", { status: "replaced" }))).toMatchObject([{ state: "replaced" }]);
  });
});

describe("the current code of a node", () => {
  it("is the version that fits the definition, even if another version is newer", async () => {
    const older = generation("fits", { created_at: "2026-11-24T10:00:00.000Z" });
    const newer = generation("stale", { ingredients: { ...then, prompt: "Multiply." } });
    const [node] = await nodesOf(workflow(), older, newer);
    expect(node).toMatchObject({ state: "runs", current: { code: "fits" } });
    expect(node?.versions.map(({ code }) => code)).toEqual(["stale", "fits"]);
  });

  it("comes from the lock file even if the store also contains code", async () => {
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

  it("is shown separately for each client that has code of its own", async () => {
    const nodes = await nodesOf(workflow(), generation("a", { client_slug: "acme" }), generation("b"));
    expect(nodes.map(({ key }) => key)).toEqual(["bills/sum/acme", "bills/sum/"]);
  });
});

it("the console's list of prompt nodes starts with the nodes whose code a user should check", async () => {
  const needs = workflow({ approval: "required" });
  const nodes = await nodesOf(
    needs,
    generation("a", { approved }),
    generation("b", { client_slug: "acme", ingredients: { ...then, prompt: "Old." } }),
    generation("c", { client_slug: "globex", status: "candidate" }),
  );
  expect(nodes.sort(compareCodeNodes).map(({ state }) => state)).toEqual(["waits", "stale", "runs"]);
});

const prompt = (text: string, more: object = {}) => ({ kind: "prompt", prompt: text, ...more });

const definition = {
  model: { default: "gpt-6" },
  requirements: ["pandas ", "numpy"],
  lib: { "mails.py": "x = 1" },
  nodes: [
    { id: "start", type: "start" },
    { id: "sum", type: "action", executor: prompt("Add them up.") },
    { id: "is_high", type: "decision", executor: prompt("High?", { model: { code_generator: "opus" } }) },
    { id: "by_hand", type: "action", executor: { kind: "code", code: "pass" } },
    {
      id: "each",
      type: "map",
      body: { nodes: [{ id: "inside", type: "action", executor: prompt("One of them.") }], edges: [] },
    },
  ],
  edges: [
    { from: "is_high", to: "by_hand", condition: true },
    { from: "is_high", to: "each", condition: "review" },
    { from: "is_high", to: "end" },
    { from: "sum", to: "is_high" },
  ],
};

const digest = async (text: string) => hash("sha256", text);

describe("the parts of a definition from which a model writes code", () => {
  it("contain the conditions of a decision in order, and the model of its node", () => {
    expect(readIngredients(definition, "is_high")).toEqual({
      prompt: "High?",
      node_type: "decision",
      edges: ["true", "review", "default"],
      model: "opus",
      requirements: ["numpy", "pandas"],
      lib: { "mails.py": "x = 1" },
    });
    const labels = [true, "review", undefined].map((condition) => conditionLabel(condition as never));
    expect(readIngredients(definition, "is_high")?.edges).toEqual(labels);
  });

  it("contain no edges for an action, and contain the model of the workflow if the node names no model", () => {
    expect(readIngredients(definition, "sum")).toMatchObject({ edges: [], model: "gpt-6" });
  });

  it("are also found for a node inside a map", () => {
    expect(readIngredients(definition, "inside")?.prompt).toBe("One of them.");
  });

  it.each(["gone", "by_hand", "start"])("are undefined for %s, which is no prompt node", (node) => {
    expect(readIngredients(definition, node)).toBeUndefined();
  });
});

describe("stored code that a model wrote for a prompt node", () => {
  const today: CurrentIngredients = readIngredients(definition, "is_high") as CurrentIngredients;
  const then = {
    prompt: "High?",
    node_type: "decision",
    edges: ["true", "review", "default"],
    reads: { total: "number" },
    generator: "1",
    guides: {},
    model: "opus",
    settings: "default",
    template: "t",
    requirements: ["numpy", "pandas"],
    lib: { "mails.py": hash("sha256", "x = 1") },
  };
  const since = (was: object, is: object = {}) => findChanges({ ...then, ...was }, { ...today, ...is }, digest);

  it("fits the current definition if the definition is unchanged", async () => {
    expect(await since({})).toEqual([]);
  });

  it.each([
    [{ prompt: "Low?" }, { ingredient: "prompt", was: "Low?", is: "High?" }],
    [{ node_type: "action" }, { ingredient: "node_type", was: "action", is: "decision" }],
    [{ edges: ["true", "false"] }, { ingredient: "edges", was: "true, false", is: "true, review, default" }],
    [{ model: "default" }, { ingredient: "model", was: "default", is: "opus" }],
    [{ requirements: [] }, { ingredient: "requirements", was: "", is: "numpy, pandas" }],
    [{ lib: {} }, { ingredient: "lib", part: "mails.py", was: null, is: hash("sha256", "x = 1") }],
    [{ lib: { ...then.lib, "old.py": "ab" } }, { ingredient: "lib", part: "old.py", was: "ab", is: null }],
  ])("is stale if the model wrote the code for a definition with %j", async (was, change) => {
    expect(await since(was)).toEqual([change]);
  });

  it("fits a long prompt if the prompt has the hash that was stored with the code", async () => {
    const long = "a".repeat(4001);
    expect(await since({ prompt: `sha256:${hash("sha256", long)}` }, { prompt: long })).toEqual([]);
    expect(await since({ prompt: `sha256:${hash("sha256", "other")}` }, { prompt: long })).toHaveLength(1);
  });

  it("fits even if the code generator, the Python guides or other ingredients outside the definition have changed", async () => {
    expect(await since({ reads: {}, generator: "0", guides: { money: "x" }, settings: "s", template: "u" })).toEqual(
      [],
    );
  });
});

it("the console hashes texts as the engine does", async () => {
  expect(await hashText("größer\n")).toBe(hash("sha256", "größer\n"));
});
