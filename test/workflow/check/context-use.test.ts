import { describe, expect, it } from "vitest";
import { contextUse } from "../../../packages/workflow/src/check/context-use.ts";

it("knows what is always set and what only in some runs", () => {
  const { writes, alwaysWrites } = contextUse('context["a"] = 1\nif x:\n    context[ \'b\' ] = 2\ncontext["c"] == 3');
  expect([...writes]).toEqual(["a", "b"]);
  expect([...alwaysWrites]).toEqual(["a"]);
});

it("says where a key is first set, whatever the line ends and comments above", () => {
  const use = contextUse('# a\r\nif x:\r\n    context["a"] = 1\r\ncontext["a"] = 2');
  expect(use.placeOf("a")).toEqual({ line: 3, column: 5 });
});

describe("reads", () => {
  it.each([
    ['x = context["a"]'],
    ["x = context.get('a', 0)"],
    ['ok = "a" in context'],
    ['context["a"] = context["a"] + 1'],
    ['del context["a"]'],
    ['context["a"] += 1'],
    ["text = f\"{context['a']}\""],
  ])("the key that %s names, and no other", (code) => {
    expect([contextUse(code).reads("a"), contextUse(code).reads("b")]).toEqual([true, false]);
  });

  it.each([
    ["context.update(x)"],
    ["print(context)"],
    ["c = context"],
    ["context[key] = 1"],
    ["context[f'{x}'] = 1"],
    ["for key in context.keys(): pass"],
    ["exec(code)"],
    ['"""\ntext\n"""'],
  ])("perhaps every key where %s", (code) => {
    expect(contextUse(code).reads("anything")).toBe(true);
  });
});

it("does not take a comment or a choice for a result", () => {
  const { writes } = contextUse('# context["a"] = 1\n  # context["b"] = 2\ncontext["branch_decision"] = True');
  expect([...writes]).toEqual([]);
});

it("knows the keys that are taken away", () => {
  const code = "del context[ 'a' ]\ncontext.pop(\"b\", None)\n# del context['c']\ndel other['d']";
  expect(contextUse(code).deletes).toEqual(new Set(["a", "b"]));
});
