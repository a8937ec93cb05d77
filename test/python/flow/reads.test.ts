import { expect, it } from "vitest";
import { readReads } from "../../../packages/python/src/flow/reads.ts";
import { pathsOf, programOf } from "../support/program.ts";

const readsIn = (source: string) => {
  const program = programOf(source);
  return readReads(program, pathsOf(program)).map(({ path, optional }) => `${path.join(".")}${optional ? "?" : ""}`);
};

it.each([
  ["x = context['a']", ["a"]],
  ["x = context['a']['b']", ["a.b", "a"]],
  ["context['a'] += 1", ["a"]],
  ["context['a']['b'] = 1", ["a"]],
  ["x = context.get('a')", ["a?"]],
  ["x = context.setdefault('a', [])", ["a?"]],
  ["x = context.pop('a')", ["a"]],
  ["x = context.pop('a', None)", ["a?"]],
  ["x = 'a' in context", ["a?"]],
  ["x = 'a' not in context.keys()", ["a?"]],
  ["match context:\n  case {'a': x}:\n    pass", ["a?"]],
  ["for line in context['lines']:\n  x = line['price']", ["lines", "lines.[].price"]],
])("a program reads by %j the paths %j", (source, reads) => {
  expect(readsIn(source).sort()).toEqual([...reads].sort());
});

it.each([
  "context['a'] = 1",
  "context['a'], b = 1, 2",
  "for context['a'] in x:\n  pass",
  "x = context[key()]",
  "x = other['a']",
  "x = row.get('a')",
])("a program reads no key by %j", (source) => {
  expect(readsIn(source)).toEqual([]);
});
