import { checkPython, nodeGlobals } from "@nova/python";
import { expect, it } from "vitest";

const check = (source: string) => checkPython(source, { builtins: nodeGlobals });

it.each([
  ["a colon is missing", "x = 1\nif x\n    y = 2", 2, 5],
  ["a bracket stays open", "x = (1,\n", 2, 1],
  ["Python 2 prints", 'print "hello"', 1, 7],
  ["a return stands outside of a function", "x = 1\nreturn x", 2, 1],
  ["the indentation is wrong", "x = 1\n  y = 2", 2, 1],
  ["await stands outside of a function", "import asyncio\nawait asyncio.sleep(1)", 2, 1],
])("says where %s", async (_, source, line, column) => {
  expect(await check(source)).toEqual([
    {
      kind: "syntax",
      message: expect.stringMatching(/^Python cannot read this: .+ - correct the line$/),
      line,
      column,
    },
  ]);
});

it.each([
  ["an undefined name", "x = 1\nsend(x)", "send", 2, 1],
  ["a name in an f-string", 'print(f"{totl}")', "totl", 1, 10],
  ["a local name before it is set", "t = 1\ndef f():\n    print(t)\n    t = 2\nf()", "t", 3, 11],
  ["a name behind a character of two units", 'print("𝄞", zzz)', "zzz", 1, 13],
])("names %s", async (_, source, name, line, column) => {
  const [problem, ...others] = await check(source);
  expect(others).toEqual([]);
  expect(problem).toMatchObject({ kind: "name", line, column });
  expect(problem?.message).toContain(`name "${name}"`);
});

it.each([
  ["what every node has", 'context["a"] = json.dumps(outputs["b"]); base64.b64encode(b"")'],
  ["Python's own names and dunders", "print(__name__, __file__, len([]))"],
  ["what it sets in some branch", "import os\nif os.name:\n    x = 1\nprint(x)"],
  ["a star import, which may define anything", "from math import *\nprint(sqrt(2))"],
  ["a name that is tried", "try:\n    unicode\nexcept NameError:\n    unicode = str"],
  ["the syntax of new Pythons", "type Pair[T] = tuple[T, T]\nmatch 1:\n    case _: pass"],
  ["a line that asks for silence", "print(made_elsewhere)  # noqa: F821"],
  ["nothing", ""],
])("lets code use %s", async (_, source) => {
  expect(await check(source)).toEqual([]);
});

it("gives a module of lib no globals, and names its file", async () => {
  const problems = await checkPython('print(context["a"])', { fileName: "lib/mails.py" });
  expect(problems).toMatchObject([{ kind: "name", file: "lib/mails.py", line: 1, column: 7 }]);
});

it("finds every wrong name, and one of a name per line", async () => {
  const problems = await check("a1(b1)\nb1(b1)");
  expect(problems.map(({ line, column }) => [line, column])).toEqual([
    [1, 1],
    [1, 4],
    [2, 1],
  ]);
});

it("says nothing about names where Python cannot read the code", async () => {
  expect((await check("print(unknown)\nreturn")).map((problem) => problem.kind)).toEqual(["syntax"]);
});
