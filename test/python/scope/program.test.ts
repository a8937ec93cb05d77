import { describe, expect, it } from "vitest";
import { askedIn, programOf } from "../support/program.ts";

/**
 * The source assigns a name to `_`. Returns the kinds of origin that this name can have, such as `provided` or `value`.
 */
function originsIn(source: string): string[] {
  const program = programOf(source);
  const asked = askedIn(program);
  return asked.kind === "name" ? program.reaching(asked).map(({ origin }) => origin.kind) : [];
}

describe("the origin of a name in Python code is", () => {
  it.each([
    ["NOVA, for a name that it provides", "_ = context", ["provided"]],
    ["the last of several values in a row", "a = 1\na = f()\n_ = a", ["value"]],
    ["the value of each branch", "if x:\n  a = 1\nelse:\n  a = f()\n_ = a", ["value", "value"]],
    ["a value or its change", "a = 1\na += 2\n_ = a", ["value", "augment"]],
    ["a value from an earlier round of a loop", "a = 1\nfor x in y:\n  _ = a\n  a = 2", ["value", "value"]],
    ["an item of a loop", "for a in b: pass\n_ = a", ["item"]],
    ["a part of an item", "for a, b in c: pass\n_ = b", ["part"]],
    ["the value at its position, if several values are assigned", "a, b = 1, f()\n_ = b", ["value"]],
    ["the value that a with binds", "with open(x) as f: pass\n_ = f", ["with"]],
    ["an exception", "try: pass\nexcept E as e: _ = e", ["handler"]],
    ["a global, from within a function", "a = 1\ndef f():\n  global a\n  a = 2\n  _ = a", ["value", "value"]],
    ["a parameter, not the name of the module", "a = 1\ndef f(a):\n  _ = a", ["param"]],
    ["unknown, for a builtin", "_ = len", []],
    ["a capture of a match", "match x:\n  case [a, *b]: _ = a", ["match"]],
    ["a name that := binds in a comprehension", "[b for c in d if (b := c)]\n_ = b", ["value"]],
  ])("found to be %s", (_, source, expected) => {
    expect(originsIn(source)).toEqual(expected);
  });
});

describe("the import path of a Python expression", () => {
  it.each([
    ["_ = json.dumps", "json.dumps"],
    ["from json import dumps as d\n_ = d", "json.dumps"],
    ["import datetime as dt\n_ = dt.datetime.now", "datetime.datetime.now"],
    ["emit = print\n_ = emit", "builtins.print"],
    ["import os.path\n_ = os.path.join", "os.path.join"],
    ["try:\n  import a as b\nexcept ImportError:\n  import c as b\n_ = b", undefined],
    ["x = f()\n_ = x.y", undefined],
  ])("whose value is assigned to _ in %j is %s", (source, path) => {
    const program = programOf(source);
    expect(program.importPath(askedIn(program))).toBe(path);
  });
});

describe("the code of a Python function", () => {
  const runs = (source: string) => {
    const program = programOf(source);
    return program.mayRun(askedIn(program));
  };
  it.each([
    ["is called", "def f():\n  _ = 1\nf()"],
    ["is called by another function", "def f():\n  _ = 1\ndef g():\n  f()\ng()"],
    ["is passed on without a call", "def f():\n  _ = 1\nrun(f)"],
    ["has a decorator", "@on('x')\ndef f():\n  _ = 1"],
    ["is a method", "class A:\n  def f(self):\n    _ = 1"],
    ["is called by a name that is computed at run time", "def f():\n  _ = 1\nglobals()['f']()"],
  ])("may run if the function %s", (_, source) => {
    expect(runs(source)).toBe(true);
  });

  it.each([
    ["is never named", "def f():\n  _ = 1"],
    ["is called only by itself", "def f():\n  _ = 1\n  f()"],
    ["is called only by a function that never runs", "def f():\n  _ = 1\ndef g():\n  f()"],
  ])("never runs if the function %s", (_, source) => {
    expect(runs(source)).toBe(false);
  });
});
