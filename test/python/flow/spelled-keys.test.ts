import { expect, it } from "vitest";
import { spelledKeys } from "../../../packages/python/src/flow/spelled-keys.ts";
import { askedIn, programOf } from "../support/program.ts";

const keysIn = (source: string) => {
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
  expect(keysIn(source)).toEqual(["a", "b"]);
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
  expect(keysIn(source)).toBeUndefined();
});
