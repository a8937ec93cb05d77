import { expect, it } from "vitest";
import { readPrinted, readReads } from "../../../packages/python/src/flow/printed.ts";
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
])("readReads finds in %j the paths %j", (source, reads) => {
  expect(readsIn(source).sort()).toEqual([...reads].sort());
});

it.each([
  "context['a'] = 1",
  "context['a'], b = 1, 2",
  "for context['a'] in x:\n  pass",
  "x = context[key()]",
  "x = other['a']",
  "x = row.get('a')",
])("readReads finds no key in %j", (source) => {
  expect(readsIn(source)).toEqual([]);
});

const mayPrint = (source: string) => readPrinted(programOf(source)).mayPrint;

it.each([
  ["print(json.dumps({'a': 1}))"],
  ["text = json.dumps(x)\nprint(text)"],
  ["from json import dumps\nprint(dumps(x), flush=True)"],
  ["import sys\njson.dump(x, sys.stdout)"],
  ["import sys\nsys.stdout.write(json.dumps(x) + '\\n')"],
  ["def text(): return json.dumps(x)\nprint(text())"],
  ["def out(d): print(json.dumps(d))\nout({})"],
  ["lines = []\nlines.append(json.dumps(x))\nprint('\\n'.join(lines))"],
  ["emit = print\nemit(json.dumps(x))"],
  ["print(f'\\n{json.dumps(x)}')"],
  ["print('log', json.dumps(x), sep='\\n')"],
  ["class A:\n  def __init__(self): self.text = json.dumps(x)\n  def go(self): print(self.text)\nA().go()"],
])("readPrinted finds a printed result in %j", (source) => {
  expect(mayPrint(source)).toBe(true);
});

it.each([
  ["print({'a': 1})"],
  ["print('a', json.dumps(x))"],
  ["print(f'a {json.dumps(x)}')"],
  ["import sys\nprint(json.dumps(x), file=sys.stderr)"],
  ["with open('a', 'w') as f: json.dump(x, f)"],
  ["import requests\nr = requests.post('u', data=json.dumps(x))\nprint(r.status_code)"],
  ["print(json.dumps([1, 2]))"],
  ["print(json.dumps({}))"],
  ["def out(): print(json.dumps(x))"],
])("readPrinted finds no printed result in %j", (source) => {
  expect(mayPrint(source)).toBe(false);
});
