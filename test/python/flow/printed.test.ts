import { expect, it } from "vitest";
import { readPrinted } from "../../../packages/python/src/flow/printed.ts";
import { programOf } from "../support/program.ts";

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
