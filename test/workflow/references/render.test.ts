import { parseExact, renderPrompt } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { listsIn } from "../../../packages/workflow/src/references/render.ts";

const outline = "Plan:\n1. Rivers\n2. Lakes\n3. Seas";

const context = {
  __node_mapping: { "My Outline": "n1", Answer: "n2", Gone: "n9" },
  __current_node: "n3",
  "id:n1": outline,
  "id:n2": { output: { title: "Water", tags: ["a", "b"] }, generated_text: "text", content: "text" },
  "My Outline": "the outline under its name",
  Gone: "found by its name",
  Numbers: ["one", { two: 2 }],
  "  Padded ": "padded",
};

const rendered = (prompt: string, options = {}) => renderPrompt(prompt, context, options).processed_prompt;

describe("the text that replaces a reference in a prompt", () => {
  it.each([
    ["{My Outline}", outline],
    ["{my outline}", outline],
    ["{n1}", outline],
    ["{Gone}", "found by its name"],
    ["{padded}", "padded"],
    ["{My Outline[2]}", "Lakes"],
    ["{My Outline:item(3)}", "Seas"],
    ["{Numbers[1]}", "one"],
    ["{Numbers[2].two}", "2"],
    ["{Numbers}", '["one",{"two":2}]'],
    ["{Answer.title}", "Water"],
    ["{Answer.generated_text}", "text"],
    ["{Answer.tags[0]}", "a"],
    ["{Answer}", '{"title":"Water","tags":["a","b"]}'],
  ])("is, for %s, %j", (prompt, expected) => {
    expect(rendered(prompt)).toBe(expected);
  });

  it("may be a part of the output of a node, even if this output is a text that contains JSON", () => {
    const data = { A: '["x", "y"]', B: '{"k": {"l": [10]}}' };
    expect(renderPrompt("{A[2]} {B.k.l[0]}", data).processed_prompt).toBe("y 10");
  });

  it("contains the exact numbers of the value", () => {
    const data = { Total: parseExact('{"amount": 850.0}'), Big: '{"n": 12345678901234567890}' };
    expect(renderPrompt("{Total} {Total.amount} {Big.n}", data).processed_prompt).toBe(
      '{"amount":850.0} 850.0 12345678901234567890',
    );
  });

  it("stays unchanged even if it contains references itself", () => {
    const data = { A: "{B} \\{ {{x}}", B: "secret" };
    expect(renderPrompt("{A}", data).processed_prompt).toBe(data.A);
  });
});

it("a replaced reference in a prompt is reported with the rule by which its value was found", () => {
  const { references, processed_node_values } = renderPrompt("{My Outline[2]} {numbers[1]} {Gone} {Bullets[1]}", {
    ...context,
    Bullets: "- a\n- b",
  });
  expect(references).toEqual([
    { reference: "{My Outline[2]}", node: "n1", found_by: "mapping", item: "label", characters: 5 },
    { reference: "{numbers[1]}", found_by: "similar name", item: "json", characters: 3 },
    { reference: "{Gone}", found_by: "name", characters: 17 },
    { reference: "{Bullets[1]}", found_by: "name", item: "bullet", characters: 1 },
  ]);
  expect(processed_node_values).toEqual({
    "My Outline[2]": "Lakes",
    "numbers[1]": "one",
    Gone: "found by its name",
    "Bullets[1]": "a",
  });
});

it.each([
  ["{Name}", "Name", false],
  ["{__node_mapping}", "__node_mapping", false],
  ["{__proto__}", "__proto__", false],
  ["{constructor}", "constructor", false],
  ["{My Outline[9]}", "My Outline[9]", true],
  ["{Numbers[0]}", "Numbers[0]", true],
  ["{Answer.toString}", "Answer.toString", true],
])("a reference in a prompt that has no value is replaced by an error text: %s", (prompt, name, has_node) => {
  const { processed_prompt, processed_node_values, missing } = renderPrompt(prompt, context);
  expect(processed_prompt).toBe(`[CONTEXT_ERROR: Content for '${name}' not found in provided context_data]`);
  expect(processed_node_values).toEqual({});
  expect(missing).toMatchObject([{ reference: prompt, has_node }]);
});

it("a reference into JSON text that is nested too deeply counts as missing", () => {
  const text = "[".repeat(100_000) + "]".repeat(100_000);
  expect(renderPrompt("Read {n[1]}", { n: text }).missing).toHaveLength(1);
});

it("a reference in a prompt whose value is null counts as missing", () => {
  expect(renderPrompt("{A}", { A: null }).missing).toHaveLength(1);
});

it("a long value in a prompt is shortened with a note, and never inside a character", () => {
  const { processed_prompt, references } = renderPrompt("{A}", { A: "ab😀cd" }, { maxChars: 3 });
  expect(processed_prompt).toBe("ab... [cut: 2 of 6 characters]");
  expect(references).toMatchObject([{ characters: 6, cut_at: 2 }]);
});

it("a secret in a value is masked before the value is shortened for a prompt", () => {
  const mask = (text: string) => text.replaceAll("hunter2", "***");
  expect(renderPrompt("{A}", { A: "x hunter2" }, { maxChars: 5, mask }).processed_prompt).toBe("x ***");
});

const ideas = `Here are three:
1. First
   with more
2) Second: 12:30, and 1.5 million
   - a
   1. deeper

3: Third
lazy

Hope this helps!
`;

it("listsIn returns all lines of an item of a list, even lines without an indent", () => {
  expect([...listsIn(ideas).numbered]).toEqual([
    [1, "First\n   with more"],
    [2, "Second: 12:30, and 1.5 million\n   - a\n   1. deeper"],
    [3, "Third\nlazy"],
  ]);
});

it("listsIn returns the indented paragraphs of an item of a list, and nothing after them", () => {
  expect(listsIn("7. a\n\n   still a\n\nnot a\n9. b").numbered).toEqual(
    new Map([
      [7, "a\n\n   still a"],
      [9, "b"],
    ]),
  );
});

it("only the outermost bullets of a text count as items of a list", () => {
  expect(listsIn("* a\n  * inside\n* b\r\n\n• c\n-d").bulleted).toEqual(["a\n  * inside", "b", "c\n-d"]);
});

it.each(["", "no list", "12:30 is a time", "1.5", "2024", "1.", "- ", "1234567. too long"])(
  "listsIn finds no item with text in %j",
  (text) => {
    const { numbered, bulleted } = listsIn(text);
    expect([...numbered.values(), ...bulleted].filter((item) => item !== "")).toEqual([]);
  },
);

it.each(["1. \n", " ", "\n", "- \n", "1", "\t1)\n"])(
  "listsIn reads a million characters of %j in linear time",
  (piece) => {
    expect(listsIn(piece.repeat(Math.ceil(1_000_000 / piece.length)))).toBeDefined();
  },
);
