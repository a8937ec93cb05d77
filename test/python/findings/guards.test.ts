import { describe, expect, it } from "vitest";
import { expectsImportError, expectsKeyError, mayBePassedBy } from "../../../packages/python/src/findings/guards.ts";
import { programOf } from "../support/program.ts";

/** Finds the node of the text 'asked' in a source. */
function asked(source: string) {
  const program = programOf(source);
  const node = program.nodes.find((each) => each.kind === "text" && each.value === "asked");
  if (!node) throw new Error(`no "asked" in ${source}`);
  return { program, node };
}

describe("an exception handler in Python code", () => {
  it.each([
    ["in a try", "try:\n  x = c['asked']\nexcept KeyError:\n  x = 1"],
    ["in a try for several errors", "try:\n  x = c['asked']\nexcept (TypeError, KeyError):\n  x = 1"],
    ["in a try for all errors", "try:\n  x = c['asked']\nexcept:\n  x = 1"],
    ["where it is suppressed", "from contextlib import suppress\nwith suppress(KeyError):\n  x = c['asked']"],
    ["in a function whose call is in a try", "def f():\n  return c['asked']\ntry:\n  f()\nexcept LookupError:\n  pass"],
  ])("is found for a KeyError %s", (_, source) => {
    const { program, node } = asked(source);
    expect(expectsKeyError(program, node)).toBe(true);
  });

  it.each([
    ["at the top level", "x = c['asked']"],
    ["in a try for another error", "try:\n  x = c['asked']\nexcept ValueError:\n  x = 1"],
    ["in the handler itself", "try:\n  x = 1\nexcept KeyError:\n  x = c['asked']"],
    ["in a try without handlers", "try:\n  x = c['asked']\nfinally:\n  y = 1"],
    ["in a with that suppresses nothing", "with open('f') as f:\n  x = c['asked']"],
  ])("is not assumed for a KeyError %s", (_, source) => {
    const { program, node } = asked(source);
    expect(expectsKeyError(program, node)).toBe(false);
  });
});

it.each([
  ["try:\n  use('asked')\nexcept ImportError:\n  pass", true],
  ["try:\n  import a\nexcept ImportError:\n  use('asked')", true],
  ["try:\n  use('asked')\nexcept KeyError:\n  pass", false],
])("expectsImportError, for the text 'asked' in %j, is %s", (source, isExpected) => {
  const { program, node } = asked(source);
  expect(expectsImportError(program, node)).toBe(isExpected);
});

describe("a successful run of Python code", () => {
  it.each([
    ["a branch", "if x:\n  y = c['asked']"],
    ["the test of an elif", "if x:\n  y = 1\nelif c['asked']:\n  y = 2"],
    ["a conditional value", "y = c['asked'] if x else 1"],
    ["the right side of an and", "y = x and c['asked']"],
    ["a body of while", "while x:\n  y = c['asked']"],
    ["a case of a match", "match x:\n  case 1:\n    y = c['asked']"],
    ["a handler", "try:\n  y = 1\nexcept ValueError:\n  y = c['asked']"],
    ["a statement below an exit", "import sys\nif x:\n  sys.exit()\ny = c['asked']"],
    ["a statement after a possible return", "def f():\n  if x:\n    return 1\n  return c['asked']\nf()"],
    ["a function that is never called", "def f():\n  return c['asked']"],
    ["a function that is called in a branch", "def f():\n  return c['asked']\nif x:\n  f()"],
    ["a method", "class A:\n  def f(self):\n    return c['asked']\nA().f()"],
    ["a lambda", "f = lambda: c['asked']"],
  ])("may skip %s", (_, source) => {
    const { program, node } = asked(source);
    expect(mayBePassedBy(program, node)).toBe(true);
  });

  it.each([
    ["a statement at the top level", "y = c['asked']"],
    ["the test of an if", "if c['asked']:\n  y = 1"],
    ["the test of a while", "while c['asked']:\n  y = 1"],
    ["the subject of a match", "match c['asked']:\n  case 1:\n    y = 1"],
    ["the body of a try", "try:\n  y = c['asked']\nexcept ValueError:\n  y = 1"],
    ["the left side of an or", "y = c['asked'] or x"],
    ["a function that is called at the top level", "def f():\n  return c['asked']\nf()"],
  ])("always executes %s", (_, source) => {
    const { program, node } = asked(source);
    expect(mayBePassedBy(program, node)).toBe(false);
  });
});
