import { hash } from "node:crypto";
import { conditionLabel } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import {
  type CurrentIngredients,
  findChanges,
  hashText,
  readIngredients,
} from "../../../../packages/console/src/pages/code/staleness.ts";

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

describe("the ingredients of a prompt node", () => {
  it("contain the conditions of a decision in order, and the node's model", () => {
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

  it("contain no conditions for an action, and the workflow's model", () => {
    expect(readIngredients(definition, "sum")).toMatchObject({ edges: [], model: "gpt-6" });
  });

  it("are found inside a map", () => {
    expect(readIngredients(definition, "inside")?.prompt).toBe("One of them.");
  });

  it.each(["gone", "by_hand", "start"])("are undefined for %s", (node) => {
    expect(readIngredients(definition, node)).toBeUndefined();
  });
});

describe("existing code", () => {
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

  it("fits an unchanged definition", async () => {
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
  ])("is stale if it was written for %j", async (was, change) => {
    expect(await since(was)).toEqual([change]);
  });

  it("compares a long prompt by its hash", async () => {
    const long = "a".repeat(4001);
    expect(await since({ prompt: `sha256:${hash("sha256", long)}` }, { prompt: long })).toEqual([]);
    expect(await since({ prompt: `sha256:${hash("sha256", "other")}` }, { prompt: long })).toHaveLength(1);
  });

  it("ignores ingredients that no definition contains", async () => {
    expect(await since({ reads: {}, generator: "0", guides: { money: "x" }, settings: "s", template: "u" })).toEqual(
      [],
    );
  });
});

it("hashes texts as the engine does", async () => {
  expect(await hashText("größer\n")).toBe(hash("sha256", "größer\n"));
});
