import { type ContextShape, shapeOf } from "@nova/python";
import { describe, expect, it } from "vitest";
import { readChanges } from "../../../packages/python/src/flow/changes.ts";
import { pathsOf, programOf } from "../support/program.ts";

function changesIn(source: string, shape?: ContextShape): string[] {
  const program = programOf(source);
  const paths = pathsOf(program);
  const changes = readChanges(program, paths, shape);
  return changes.map(({ kind, path }) => `${kind} ${path?.join(".") ?? "?"}`.trim());
}

describe("Python code changes the context of a run by", () => {
  it.each([
    ["a set key", "context['a'] = 1", ["set a"]],
    ["an assignment to several keys", "context['a'], context['b'] = 1, 2", ["set a", "set b"]],
    ["a nested key", "context['a']['b'] = 1", ["set a.b"]],
    ["a computed key", "context[key] = 1", ["any"]],
    ["a key with +=", "context['a'] += 1", ["set a"]],
    ["a deleted key", "del context['a']", ["delete a"]],
    ["pop()", "context.pop('a', None)", ["delete a"]],
    ["clear()", "context.clear()", ["delete"]],
    ["update() with a dict and names", "context.update({'a': 1, **{'b': 2}}, c=3)", ["set a", "set b", "set c"]],
    ["update() with an unknown value", "context.update(found)", ["any"]],
    ["update() with a dict that has a name", "u = {'a': 1}\nu['b'] = 2\ncontext.update(u)", ["set a", "set b"]],
    ["update() with a dict that may have more keys", "u = {'a': 1}\nu.update(found)\ncontext.update(u)", ["any"]],
    ["update() with a dict that was passed to a function", "u = {}\nfill(u)\ncontext.update(u)", ["any"]],
    ["update() with a dict that has a second name", "u = {}\nv = u\nv['a'] = 1\ncontext.update(u)", ["any"]],
    ["setdefault()", "context.setdefault('a', 1)", ["set a"]],
    ["|=", "context |= {'a': 1}", ["set a"]],
    ["an item that is added to a nested list", "context['a'].append(1)", ["any a"]],
    ["a key of a value that has another name", "x = context['a']\nx['b'] = 1", ["set a.b"]],
    ["a set key of the items in a loop", "for x in context['a']: x['b'] = 1", ["set a.[].b"]],
    ["a function that sets a key of its argument", "def f(c): c['a'] = 1\nf(context)", ["set a"]],
    ["a function of another module", "from lib import f\nf(context)", ["any"]],
    ["a method that is passed on without a call", "map(context['a'].append, x)", ["any ?"]],
    [
      "a method of an object that holds the context",
      "class A:\n  def __init__(self, c): self.c = c\n  def f(self): self.c['a'] = 1\nA(context).f()",
      ["any ?"],
    ],
    ["code that is built at run time", "exec('x')", ["any ?"]],
    ["a shuffled list", "import random\nrandom.shuffle(context['a'])", ["any a"]],
  ])("an operation such as %s", (_, source, expected) => {
    expect(changesIn(source)).toEqual(expected);
  });
});

describe("Python code does not change the context of a run by", () => {
  it.each([
    ["reading it", "a = context['a'].strip()\nfor x in context.values(): print(x)"],
    ["a sum", "n = context['n']\nn += 1"],
    ["a copy", "c = dict(context)\nc['a'] = 1"],
    ["a new list of old items", "r = [x for x in context['a']]\nr.append(1)\nr.sort()"],
    [
      "passing a value to the standard library or a known package",
      "import json, requests\nrequests.post('u', json=context['a'])\njson.dumps(context)",
    ],
    [
      "passing a value to the cursor of a known package",
      "import psycopg\nc = psycopg.connect('').cursor()\nc.execute('x', context['a'])",
    ],
    ["a deep copy", "import copy\nc = copy.deepcopy(context)\nc['a']['b'] = 1"],
    ["a function that does not run", "def f(): context['a'] = 1"],
    ["a class that only reads it", "class A:\n  def __init__(self, c): self.n = len(c)\nA(context)"],
  ])("an operation such as %s", (_, source) => {
    expect(changesIn(source)).toEqual([]);
  });

  it("a call that passes an immutable value to a function", () => {
    const source = "from lib import f\nf(context['text'])";
    expect(changesIn(source)).toEqual(["any text"]);
    expect(changesIn(source, { text: shapeOf("x") })).toEqual([]);
  });
});
