import { expect, it } from "vitest";
import { listsIn } from "../../../packages/workflow/src/references/items.ts";

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

it("an item with a label contains all of its lines", () => {
  expect([...listsIn(ideas).numbered]).toEqual([
    [1, "First\n   with more"],
    [2, "Second: 12:30, and 1.5 million\n   - a\n   1. deeper"],
    [3, "Third\nlazy"],
  ]);
});

it("an item contains its indented paragraphs, and nothing after them", () => {
  expect(listsIn("7. a\n\n   still a\n\nnot a\n9. b").numbered).toEqual(
    new Map([
      [7, "a\n\n   still a"],
      [9, "b"],
    ]),
  );
});

it("a list of bullets counts only its own level", () => {
  expect(listsIn("* a\n  * inside\n* b\r\n\n• c\n-d").bulleted).toEqual(["a\n  * inside", "b", "c\n-d"]);
});

it.each(["", "no list", "12:30 is a time", "1.5", "2024", "1.", "- ", "1234567. too long"])(
  "finds in %j nothing that has a text",
  (text) => {
    const { numbered, bulleted } = listsIn(text);
    expect([...numbered.values(), ...bulleted].filter((item) => item !== "")).toEqual([]);
  },
);

it.each(["1. \n", " ", "\n", "- \n", "1", "\t1)\n"])("a million times %j is read in a short time", (piece) => {
  expect(listsIn(piece.repeat(Math.ceil(1_000_000 / piece.length)))).toBeDefined();
});
