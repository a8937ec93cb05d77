import { expect, it } from "vitest";
import { knownEntries, spelledKeys } from "../../../packages/python/src/flow/dicts.ts";
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
])("knows all keys of %s", (_, source) => {
  expect(keysIn(source)).toEqual(["a", "b"]);
});

it("has the keys of all answers of a function", () => {
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
])("does not know the keys of %s", (_, source) => {
  expect(keysIn(source)).toBeUndefined();
});

const spelledIn = (source: string) => {
  const program = programOf(source);
  return spelledKeys(program, askedIn(program));
};

it.each([
  ["a tuple", "for k in ('a', 'b'):\n  _ = k"],
  ["a list that has a name", "keys = ['a', 'b']\nfor k in keys:\n  _ = k"],
  ["a dict", "for k in {'a': 1, 'b': 2}:\n  _ = k"],
  ["the items of a dict", "for k, v in {'a': 1, 'b': 2}.items():\n  _ = k"],
  ["a dict that is filled by its keys", "u = {'a': 1}\nu['b'] = 2\nfor k, v in u.items():\n  _ = k"],
])("knows all keys of a loop over %s", (_, source) => {
  expect(spelledIn(source)).toEqual(["a", "b"]);
});

it.each([
  ["a name that may be something else", "for k in ('a', 'b'):\n  if x:\n    k = y\n  _ = k"],
  ["a list that more is put into", "keys = ['a']\nkeys.append(x)\nfor k in keys:\n  _ = k"],
  ["a list with a computed text", "for k in ['a', f'{x}']:\n  _ = k"],
  ["the values of a dict", "for k, v in {'a': 1}.items():\n  _ = v"],
  ["a dict that more is put into", "u = {'a': 1}\nu.update(x)\nfor k, v in u.items():\n  _ = k"],
  ["something unknown", "for k in keys():\n  _ = k"],
  ["no name", "_ = 'a' + x"],
])("does not know the keys of %s", (_, source) => {
  expect(spelledIn(source)).toBeUndefined();
});
