import { hash } from "node:crypto";
import { currentGenerator } from "@nova/agents";
import { generationId, membersOf } from "@nova/engine";
import { templatePackages } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { readGuide, topics } from "../../../packages/agents/src/knowledge/guides.ts";
import {
  baseTemplate,
  currentIngredients,
  currentTypes,
  type Generator,
  generationKey,
  guideHashes,
  ingredientsOf,
  typesOf,
} from "../../../packages/agents/src/lock/ingredients.ts";
import { generator, generatorWith, type TaskChanges, taskWith, written } from "./tasks.ts";

function keyWith(changes: TaskChanges = {}, today: Generator = generator): string {
  return generationKey(ingredientsOf(taskWith(changes), today, written));
}

const usual = keyWith();
const yesNo = (first: string, second: string) => ({
  node: { type: "decision" } as const,
  edges: [first, second].map((condition) => ({ from: "sum", to: "end", condition })),
});

describe("the key of pinned code, a hash of all that the code was made from,", () => {
  it.each<[string, TaskChanges]>([
    ["the prompt of the node", { executor: { prompt: "Add up the lines!" } }],
    ["a long prompt, which is stored as its hash", { executor: { prompt: "Add up the lines. ".repeat(400) } }],
    ["the type of the node", { node: { type: "decision" } }],
    ["the edge conditions of a decision", yesNo("true", "false")],
    [
      "the type of a key of the context that the code reads",
      { input: '{"lines": "1, 2", "order": {"discount": 0.5}}' },
    ],
    ["the model that the node names", { executor: { model: { default: "gpt-6.1-terra" } } }],
    ["the model that writes code", { executor: { model: { code_generator: "gpt-6.1-terra" } } }],
    ["the model that the workflow names", { workflow: { model: { default: "gpt-6.1-terra" } } }],
    ["the requirements of the workflow", { workflow: { requirements: ["lxml"] } }],
    ["a new module in `lib`", { workflow: { lib: { "mails.py": "a = 1" } } }],
  ])("changes with %s", (_, changes) => {
    expect(keyWith(changes)).not.toBe(usual);
  });

  it.each<[string, TaskChanges, TaskChanges]>([
    ["the order of the edge conditions", yesNo("true", "false"), yesNo("false", "true")],
    [
      "the text of a module in `lib`",
      { workflow: { lib: { "m.py": "a = 1" } } },
      { workflow: { lib: { "m.py": "a = 2" } } },
    ],
    ["the end of a long prompt", prompt("a".repeat(9000)), prompt(`${"a".repeat(9000)}b`)],
  ])("changes with %s", (_, one, other) => {
    expect(keyWith(one)).not.toBe(keyWith(other));
  });

  it.each<[string, Generator]>([
    ["the version of NOVA's code generator", { ...generator, version: "2" }],
    ["the settings of requests to the model", { ...generator, settings: "high" }],
    ["the text of a Python guide", generatorWith({ money: "d".repeat(64) })],
    ["the removal of a Python guide", generatorWith({})],
  ])("changes with %s", (_, today) => {
    expect(keyWith({}, today)).not.toBe(usual);
  });

  it("changes with the template of the sandbox", () => {
    const ingredients = ingredientsOf(taskWith(), generator, written);
    expect(generationKey({ ...ingredients, template: "another" })).not.toBe(generationKey(ingredients));
  });

  it("changes with the keys that the code reads, and with the Python guides in its prompt", () => {
    const keys = [written, { ...written, reads: [] }, { ...written, guides: [] }].map((one) =>
      generationKey(ingredientsOf(taskWith(), generator, one)),
    );
    expect(new Set(keys).size).toBe(3);
  });

  it.each<[string, TaskChanges]>([
    ["other values of the same types", { input: '{"lines": [], "order": {"discount": 9}}' }],
    ["a new key that the code does not read", { input: '{"lines": [1], "order": {"discount": 1}, "more": {}}' }],
    ["another model for an agent that writes no code", { executor: { model: { output_validator: "gpt-6.1-terra" } } }],
    ["a node with `samples: false`", { executor: { samples: false } }],
    [
      "other network hosts and other limits",
      { executor: { allow: ["example.com"], maxCostUsd: 1 }, node: { timeoutSeconds: 60 } },
    ],
    ["other edges of an action, which is no decision", { edges: [{ from: "sum", to: "end" }] }],
    ["another client and another run", { client: "acme", execution: "exec_02" }],
  ])("stays the same for %s", (_, changes) => {
    expect(keyWith(changes)).toBe(usual);
  });

  it("does not depend on the order of requirements, or on whether the node or the workflow names the model", () => {
    expect(keyWith({ workflow: { requirements: ["a", " b"] } })).toBe(
      keyWith({ workflow: { requirements: ["b", "a"] } }),
    );
    const model = { default: "gpt-6.1-terra" };
    expect(keyWith({ executor: { model } })).toBe(keyWith({ workflow: { model } }));
  });

  it("stays the same if the input changes only in optional keys and in keys that the code does not read", () => {
    const ingredients = ingredientsOf(taskWith(), generator, written);
    for (const input of ['{"lines": [3], "order": {}}', '{"lines": [3], "order": {"discount": 1}, "new": 1}']) {
      expect(generationKey(currentIngredients(taskWith({ input }), generator, ingredients))).toBe(usual);
    }
  });

  it("uses the recorded types of the keys that the code reads if only the definition of the node is known", () => {
    const { input: _, ...definition } = taskWith();
    const ingredients = ingredientsOf(taskWith(), generator, written);
    expect(currentIngredients(definition, generator, ingredients)).toEqual(ingredients);
  });
});

describe("the template of the sandbox in the key of pinned code", () => {
  it("lists exactly the packages that the template installs", () => {
    expect(baseTemplate.split(", ").sort()).toEqual([...templatePackages].sort());
  });
});

describe("the id of pinned code", () => {
  it("differs for two pieces of code that were made from the same prompt", () => {
    const [one, other] = ["1", "2"].map((digit) => ({ key: usual, codeHash: digit.repeat(64) }));
    const id = generationId(one as never);
    expect(generationId(other as never)).not.toBe(id);
  });
});

function prompt(text: string): TaskChanges {
  return { executor: { prompt: text } };
}

it("the code generator has the hash of every Python guide, so that a changed guide makes pinned code stale", () => {
  const onTheShelf = topics.map(({ guide }) => [guide, hash("sha256", readGuide(guide).text)] as const);
  expect(guideHashes).toEqual(Object.fromEntries(onTheShelf));
});

it("the code generator returns no hash for an unknown Python guide", () => {
  expect(currentGenerator.guideHash("money")).toMatch(/^[0-9a-f]{64}$/);
  expect(["gone", "constructor"].map((name) => currentGenerator.guideHash(name))).toEqual([undefined, undefined]);
});

const blob = (type: string) => JSON.stringify({ $blob: { sha256: "a".repeat(64), bytes: 90_000, type } });

describe("the recorded types of the values that code reads", () => {
  it.each([
    ["lines", '{"lines": [1]}', "list"],
    ["lines.0", '{"lines": [1]}', "number"],
    ["order", '{"order": {}}', "object"],
    ["order.name", '{"order": {"name": "a"}}', "string"],
    ["paid", '{"paid": false}', "boolean"],
    ["paid", '{"paid": null}', "null"],
    ["total", '{"total": 12345678901234567890}', "number"],
    ["total", '{"total": 850.0}', "number"],
    ["a.b", '{"a.b": 1, "a": {"b": "x"}}', "number"],
    ["order.a.b", '{"order": {"a": {"b": []}}}', "list"],
    ["pdf", `{"pdf": ${blob("bytes")}}`, "bytes"],
    ["text", `{"text": ${blob("text")}}`, "string"],
    ["rows", `{"rows": ${blob("json")}}`, "json"],
    ["mail.pdf", `{"mail": {"pdf": ${blob("bytes")}}}`, "bytes"],
    ["rows.0", `{"rows": ${blob("json")}}`, "any"],
    ["order.gone", '{"order": {}}', "any"],
    ["lines.length", '{"lines": [1]}', "any"],
    ["text.length", '{"text": "a"}', "any"],
    ["escaped", '{"escaped": {"$$blob": 1}}', "object"],
  ])("for the path %s of the input %s are %s", (path, input, type) => {
    expect(typesOf([{ path, optional: false }], membersOf(input))).toEqual({ [path]: type });
  });

  it("are sorted by path, and the paths of optional values are marked", () => {
    const reads = [
      { path: "b", optional: false },
      { path: "a", optional: true },
    ];
    expect(Object.entries(typesOf(reads, membersOf('{"b": 1, "a": 2}')))).toEqual([
      ["a?", "number"],
      ["b", "number"],
    ]);
  });
});

describe("the type of a value that pinned code reads", () => {
  it.each([
    ["the same type", "n", "number", '{"n": 7}', "number"],
    ["a float in place of an integer", "n", "number", '{"n": 7.5}', "number"],
    ["another type", "n", "number", '{"n": "7"}', "string"],
    ["null", "n", "number", '{"n": null}', "null"],
    ["a missing value", "n", "number", "{}", "absent"],
    ["a missing optional value", "n?", "number", "{}", "number"],
    ["another type of an optional value", "n?", "number", '{"n": "7"}', "string"],
    ["a value that was absent when the code was written", "n?", "any", '{"n": "7"}', "any"],
    ["a list that has become a blob", "l", "list", `{"l": ${blob("json")}}`, "list"],
    ["an object that has become a blob", "o", "object", `{"o": ${blob("json")}}`, "object"],
    ["a large JSON value in place of a text", "o", "string", `{"o": ${blob("json")}}`, "json"],
    ["a small list in place of a large JSON value", "o", "json", '{"o": []}', "json"],
    ["a text in place of a large JSON value", "o", "json", '{"o": ""}', "string"],
    ["a path into a large value", "o.a", "string", `{"o": ${blob("json")}}`, "string"],
    ["a long text in place of a short one", "t", "string", `{"t": ${blob("text")}}`, "string"],
  ])("is the recorded type only if the current value fits that type: %s", (_, name, written, input, today) => {
    expect(currentTypes({ [name]: written }, membersOf(input))).toEqual({ [name]: today });
  });
});
