import { referencesIn } from "@nova/workflow";
import fc from "fast-check";
import { expect, it } from "vitest";
import { promptParts } from "../../../packages/workflow/src/references/grammar.ts";

const key = (key: string) => ({ kind: "key", key });
const item = (number: number) => ({ kind: "item", number });
const index = (number: number) => ({ kind: "index", number });

it.each([
  ["{Node}", "Node", []],
  ["{ My Input Node }", "My Input Node", []],
  ["{Node[2]}", "Node", [item(2)]],
  ["{Node:item(2)}", "Node", [item(2)]],
  ["{Node.key}", "Node", [key("key")]],
  ["{Node.key.path[0]}", "Node", [key("key"), key("path"), index(0)]],
  ["{Node[2].title}", "Node", [item(2), key("title")]],
  ["{größe_1}", "größe_1", []],
])("the reference %j in a prompt is parsed into its name and steps", (prompt, name, steps) => {
  expect(referencesIn(`a ${prompt} b`)).toEqual([{ kind: "reference", written: prompt, offset: 2, name, steps }]);
});

it.each([
  '{"total": 1, "lines": [{"a": 1}]}',
  "{}",
  "{ }",
  "{a: 1}",
  "{a, b}",
  "{3}",
  "{2,3}",
  "{return x;}",
  "{foo()}",
  "{Node[x]}",
  "{Node[]}",
  "{Node.}",
  "{Node:items(2)}",
  "{Node\n}",
  "{{path}}",
  "{{ Node.key }}",
  "{Node",
  "Node}",
  `{${"a".repeat(400)}}`,
])("the prompt %j contains no references", (prompt) => {
  expect(promptParts(prompt)).toEqual([{ kind: "text", text: prompt }]);
});

it("an escaped brace in a prompt is text and starts no reference", () => {
  expect(promptParts("\\{Node} \\{a: {Node}}")).toMatchObject([
    { kind: "text", text: "{Node} {a: " },
    { kind: "reference", name: "Node" },
    { kind: "text", text: "}" },
  ]);
});

it("a known name in a reference is recognised even if it contains characters of the syntax of references", () => {
  const names = new Set(["Step 1: go. now", "3", "Step 1"]);
  const isName = (name: string) => names.has(name);
  expect(referencesIn("{Step 1: go. now.title[0]} {3} {Step 1[4]} {Step 1: stay}", isName)).toMatchObject([
    { name: "Step 1: go. now", steps: [key("title"), index(0)] },
    { name: "3", steps: [] },
    { name: "Step 1", steps: [item(4)] },
  ]);
});

it("the parts into which a prompt is split add up to the whole prompt", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("{", "}", "[", "]", ".", ":", "2", "a", " ", "\n") }), (prompt) => {
      const parts = promptParts(prompt, () => true);
      expect(parts.map((part) => (part.kind === "text" ? part.text : part.written)).join("")).toBe(prompt);
    }),
  );
});

it.each(["{", "{a", "{a:", "{a.", "\\{", `{a${".a".repeat(140)}}`, `{a${"[1]".repeat(90)}!}`])(
  "a prompt of 100,000 characters is read in linear time: %j, repeated",
  (piece) => {
    const prompt = piece.repeat(Math.ceil(100_000 / piece.length));
    expect(promptParts(prompt, () => false).length).toBeGreaterThan(0);
  },
);
