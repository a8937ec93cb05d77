import { describe, expect, it } from "vitest";
import { parsePython } from "../../../packages/python/src/tree/parse.ts";
import { kindsOf, programOf } from "../support/program.ts";

const kinds = (source: string) => kindsOf(programOf(source)).slice(1).join(" ");

describe("the Python parser, for expressions,", () => {
  it.each([
    ["a.b", "expression attribute name"],
    ["a['b']", "expression subscript name text"],
    ["a[1:2]", "expression subscript name slice number number"],
    ["a[1, 2]", "expression subscript name tuple number number"],
    ["f(a, *b, c=1, **d)", "expression call name argument name argument name argument number argument name"],
    ["f(x for x in y)", "expression call name argument comprehension name name name"],
    ["f(x := 1)", "expression call name argument walrus name number"],
    ["[a, *b]", "expression list name star name"],
    ["(a,)", "expression tuple name"],
    ["{a, b}", "expression set name name"],
    ["{'a': b, **c}", "expression dict text name name"],
    ["{k: v for k, v in x if k}", "expression comprehension name name tuple name name name name"],
    ["lambda a, *b: a", "expression lambda param param name"],
    ["a if b else c", "expression conditional name name name"],
    ["a < b and not c", "expression binary binary name name unary name"],
    ["f'{a!r:>{b}} c'", "expression format name name"],
    ["'a' 'b'", "expression text"],
    ["'a' f'{b}'", "expression format name"],
    ["b'a'", "expression bytes"],
    ["...", "expression constant"],
    ["a, b = c", "assign tuple name name name"],
    ["x: int = 1", "assign name name number"],
    ["a['b'] += 1", "augment subscript name text number"],
    ["del a, b[0]", "delete name subscript name number"],
  ])("reads %s", (source, expected) => {
    expect(kinds(source)).toBe(expected);
  });
});

describe("the Python parser, for statements,", () => {
  it.each([
    ["if a: pass\nelif b: pass\nelse: pass", "if name block pass name block pass block pass"],
    ["for a, b in c: pass\nelse: pass", "for tuple name name name block pass block pass"],
    ["while a: break", "while name block break"],
    [
      "try: pass\nexcept (A, B) as e: pass\nexcept: pass\nfinally: pass",
      "try block pass handler tuple name name block pass handler block pass block pass",
    ],
    ["with a as b, c: pass", "with name name name block pass"],
    ["with (a as b, c as d,):\n  pass", "with name name name name block pass"],
    [
      "match a:\n  case str(): pass\n  case {'k': v} if v: pass",
      "match name block pattern pass block pattern name pass",
    ],
    [
      "@a.b(c)\ndef f(x: int = 1, *, y) -> str: return x",
      "function call attribute name argument name param name number param name block return name",
    ],
    ["class A(B, metaclass=C): x = 1", "class argument name argument name block assign name number"],
    ["import a.b as c, d; from e import *", "import import"],
    ["global a", "scope"],
    ["raise A from b", "raise name name"],
    ["type A = int", "unknown"],
  ])("reads %s", (source, expected) => {
    expect(kinds(source)).toBe(expected);
  });

  it("returns null for forms of Python that lezer's grammar lacks", () => {
    expect(parsePython("with open(a) as (b, c): pass")).toBeNull();
  });

  it("skips comments", () => {
    expect(kinds("f(  # why\n  a,  # and this\n)\n# end\n")).toBe("expression call name argument name");
  });
});

describe("textOf", () => {
  it.each([
    ["'a\\'b'", "a'b"],
    ['"""a\nb"""', "a\nb"],
    ["r'a\\nb'", "a\\nb"],
    ["'a\\nb'", "a\nb"],
    ["('a'\n 'b')", "ab"],
  ])("reads the literal %j as the same text as Python: %j", (source, value) => {
    const texts = programOf(source).nodes.flatMap((node) => (node.kind === "text" ? [node.value] : []));
    expect(texts).toEqual([value]);
  });
});
