import { expect, it } from "vitest";
import { askedIn, pathsOf, programOf } from "../support/program.ts";

const pathIn = (source: string) => {
  const program = programOf(source);
  return pathsOf(program).of(askedIn(program))?.join(".");
};

it.each([
  ["the context", "_ = context", ""],
  ["an alias", "c = context\n_ = c['a']", "a"],
  ["a nested value", "_ = context['a']['b']", "a.b"],
  ["an alias of a nested value", "a = context['a']\nb = a['b']\n_ = b['c']", "a.b.c"],
  ["get", "_ = context.get('a', {})['b']", "a.b"],
  ["a default", "_ = (context['a'] or {})['b']", "a.b"],
  ["a constant key", "K = 'a'\n_ = context[K]", "a"],
  ["an item by number", "_ = context['a'][-1]['b']", "a.[].b"],
  ["an item of a loop", "for x in context['a']:\n  _ = x['b']", "a.[].b"],
  ["an item of a comprehension", "y = [x for x in context['a']]\nfor x in context['a']: _ = x", "a.[]"],
  ["a parameter of a function", "def f(ctx):\n  _ = ctx['a']\nf(context)", "a"],
  ["a parameter with the same value in all calls", "def f(a):\n  _ = a\nf(context['x'])\nf(context['x'])", "x"],
  ["a name whose value is added to", "a = context['a']\na += [1]\n_ = a", "a"],
])("Paths finds the path of %s", (_, source, path) => {
  expect(pathIn(source)).toBe(path);
});

it.each([
  ["a computed key", "_ = context[key()]"],
  ["a name with two values", "a = context['a']\nif x:\n  a = {}\n_ = a"],
  ["a parameter with different values", "def f(a):\n  _ = a\nf(context['x'])\nf(1)"],
  ["a parameter of a function that is handed on", "def f(a):\n  _ = a\nf(context)\nrun(f)"],
  ["a copy", "_ = dict(context)"],
  ["another name context", "context = {}\n_ = context"],
  ["the values of a dict", "for x in context['a'].values():\n  _ = x"],
])("Paths finds no path of %s", (_, source) => {
  expect(pathIn(source)).toBeUndefined();
});
