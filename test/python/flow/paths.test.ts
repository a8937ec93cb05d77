import { expect, it } from "vitest";
import { knownEntries } from "../../../packages/python/src/flow/paths.ts";
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
  ["a call of get()", "_ = context.get('a', {})['b']", "a.b"],
  ["an expression with a default", "_ = (context['a'] or {})['b']", "a.b"],
  ["a constant key", "K = 'a'\n_ = context[K]", "a"],
  ["an item by its index", "_ = context['a'][-1]['b']", "a.[].b"],
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
  ["a parameter of a function that is passed on without a call", "def f(a):\n  _ = a\nf(context)\nrun(f)"],
  ["a copy", "_ = dict(context)"],
  ["a context that the code binds itself", "context = {}\n_ = context"],
  ["the values of a dict", "for x in context['a'].values():\n  _ = x"],
])("Paths finds no path of %s", (_, source) => {
  expect(pathIn(source)).toBeUndefined();
});

const keysIn = (source: string) => {
  const program = programOf(source);
  return knownEntries(program, askedIn(program))?.map(({ key }) => key);
};

it.each([
  ["a dict literal", "_ = {'a': 1, 'b': 2}"],
  ["a dict literal in a dict literal", "_ = {'a': 1, **{'b': 2}}"],
  ["a dict that gets its second key later", "u = {'a': 1}\nu['b'] = 2\n_ = {**u}"],
  ["dict() with named arguments", "_ = dict(a=1, b=2)"],
  ["dict() of a dict", "_ = dict({'a': 1}, b=2)"],
  ["the result of a function", "def f(x):\n  return {'a': x, 'b': 2}\n_ = f(1)"],
  ["the result of a lambda", "f = lambda: {'a': 1, 'b': 2}\n_ = f()"],
  ["a dict that a function fills", "def f(x):\n  u = {'a': x}\n  u['b'] = 1\n  return u\n_ = f(1)"],
])("knownEntries finds all keys of %s", (_, source) => {
  expect(keysIn(source)).toEqual(["a", "b"]);
});

it("knownEntries finds the keys of every result of a function", () => {
  expect(keysIn("def f(x):\n  if x:\n    return {'a': 1}\n  return {'b': 1}\n_ = f(1)")).toEqual(["a", "b"]);
});

it.each([
  ["a dict with a computed key", "_ = {key: 1}"],
  ["a dict literal with an unknown dict in it", "_ = {'a': 1, **found}"],
  ["a dict that is passed to a function", "u = {'a': 1}\nfill(u)\n_ = u"],
  ["dict() of pairs", "_ = dict(zip(names, values))"],
  ["the result of a generator", "def f():\n  yield {'a': 1}\n_ = f()"],
  ["the result of a decorated function", "@cached\ndef f():\n  return {'a': 1}\n_ = f()"],
  [
    "the result of a function that may return an unknown value",
    "def f(x):\n  if x:\n    return x\n  return {'a': 1}\n_ = f(1)",
  ],
  ["the result of a function that calls itself", "def f():\n  return f()\n_ = f()"],
  ["the result of a library", "_ = requests.get('u').json()"],
])("knownEntries does not know all keys of %s", (_, source) => {
  expect(keysIn(source)).toBeUndefined();
});
