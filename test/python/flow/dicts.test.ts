import { expect, it } from "vitest";
import { knownEntries } from "../../../packages/python/src/flow/dicts.ts";
import { askedIn, programOf } from "../support/program.ts";

const keysIn = (source: string) => {
  const program = programOf(source);
  return knownEntries(program, askedIn(program))?.map(({ key }) => key);
};

it.each([
  ["braces", "_ = {'a': 1, 'b': 2}"],
  ["braces with braces in them", "_ = {'a': 1, **{'b': 2}}"],
  ["a name", "u = {'a': 1}\nu['b'] = 2\n_ = {**u}"],
  ["dict with names", "_ = dict(a=1, b=2)"],
  ["dict of a dict", "_ = dict({'a': 1}, b=2)"],
  ["what a function answers", "def f(x):\n  return {'a': x, 'b': 2}\n_ = f(1)"],
  ["what a lambda answers", "f = lambda: {'a': 1, 'b': 2}\n_ = f()"],
  ["a dict that a function fills", "def f(x):\n  u = {'a': x}\n  u['b'] = 1\n  return u\n_ = f(1)"],
])("knownEntries finds all keys of %s", (_, source) => {
  expect(keysIn(source)).toEqual(["a", "b"]);
});

it("knownEntries finds the keys of every result of a function", () => {
  expect(keysIn("def f(x):\n  if x:\n    return {'a': 1}\n  return {'b': 1}\n_ = f(1)")).toEqual(["a", "b"]);
});

it.each([
  ["a computed key", "_ = {key: 1}"],
  ["what somebody else spreads", "_ = {'a': 1, **found}"],
  ["a dict that is handed on", "u = {'a': 1}\nfill(u)\n_ = u"],
  ["dict of pairs", "_ = dict(zip(names, values))"],
  ["a generator's answer", "def f():\n  yield {'a': 1}\n_ = f()"],
  ["the answer of a decorated function", "@cached\ndef f():\n  return {'a': 1}\n_ = f()"],
  ["a function with an unknown answer", "def f(x):\n  if x:\n    return x\n  return {'a': 1}\n_ = f(1)"],
  ["a function that calls itself", "def f():\n  return f()\n_ = f()"],
  ["the answer of a library", "_ = requests.get('u').json()"],
])("knownEntries finds no complete keys for %s", (_, source) => {
  expect(keysIn(source)).toBeUndefined();
});
