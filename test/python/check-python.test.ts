import {
  checkNodeCode,
  checkPython,
  findAssignedKeys,
  findReboundContext,
  listContextReads,
  nodeGlobals,
} from "@nova/python";
import { describe, expect, it } from "vitest";

const check = (source: string) => checkPython(source, nodeGlobals);

it.each([
  ["a colon is missing", "x = 1\nif x\n    y = 2", 2, 5],
  ["a bracket stays open", "x = (1,\n", 2, 1],
  ["print is a statement, as in Python 2", 'print "hello"', 1, 7],
  ["a return stands outside of a function", "x = 1\nreturn x", 2, 1],
  ["the indentation is wrong", "x = 1\n  y = 2", 2, 1],
  ["await stands outside of a function", "import asyncio\nawait asyncio.sleep(1)", 2, 1],
])("checkPython reports the position where %s", async (_, source, line, column) => {
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
  ["a name at the top level", "x = 1\nsend(x)", "send", 2, 1],
  ["a name in an f-string", 'print(f"{totl}")', "totl", 1, 10],
  ["a local name before it is set", "t = 1\ndef f():\n    print(t)\n    t = 2\nf()", "t", 3, 11],
  ["a name after a character of two UTF-16 units", 'print("𝄞", zzz)', "zzz", 1, 13],
])("checkPython reports an undefined name with its position: %s", async (_, source, name, line, column) => {
  const [problem, ...others] = await check(source);
  expect(others).toEqual([]);
  expect(problem).toMatchObject({ kind: "name", line, column });
  expect(problem?.message).toContain(`name "${name}"`);
});

it.each([
  ["the names that every node has", 'context["a"] = json.dumps(outputs["b"]); base64.b64encode(b"")'],
  ["Python's own names and dunders", "print(__name__, __file__, len([]))"],
  ["a name that only one branch sets", "import os\nif os.name:\n    x = 1\nprint(x)"],
  ["a star import, which may define anything", "from math import *\nprint(sqrt(2))"],
  ["a name in a try for NameError", "try:\n    unicode\nexcept NameError:\n    unicode = str"],
  ["the syntax of newer versions of Python", "type Pair[T] = tuple[T, T]\nmatch 1:\n    case _: pass"],
  ["an undefined name in a line with noqa", "print(made_elsewhere)  # noqa: F821"],
  ["empty code", ""],
])("checkPython accepts %s", async (_, source) => {
  expect(await check(source)).toEqual([]);
});

it("checkPython reports names as undefined in a module of lib if NOVA provides them only to nodes", async () => {
  const problems = await checkPython('print(context["a"])');
  expect(problems).toMatchObject([{ kind: "name", line: 1, column: 7 }]);
});

it("checkPython finds every undefined name, and reports it once per line", async () => {
  const problems = await check("a1(b1)\nb1(b1)");
  expect(problems.map(({ line, column }) => [line, column])).toEqual([
    [1, 1],
    [1, 4],
    [2, 1],
  ]);
});

it("checkPython reports no undefined names if Python cannot parse the code", async () => {
  expect((await check("print(unknown)\nreturn")).map((problem) => problem.kind)).toEqual(["syntax"]);
});

const chain = (operator: string, length: number) => `x = ${Array(length).fill("1").join(operator)}`;
const nested = (open: string, close: string, levels: number) => `x = ${open.repeat(levels)}1${close.repeat(levels)}`;

const deep = [
  ["additions", chain("+", 2000)],
  ["powers", chain("**", 2000)],
  ["brackets", nested("(", ")", 1000)],
  ["lists", nested("[", "]", 1000)],
  ["calls", nested("f(", ")", 1000)],
  ["brackets that nothing closes", nested("(", "", 1000)],
  ["attributes", `x = context${".a".repeat(2000)}`],
  ["negations", nested("not ", "", 1000)],
  ["lambdas", nested("lambda: ", "", 1000)],
  ["conditions", nested("1 if a else ", "", 1000)],
] as const;

describe("Python code that is too long or too deep", () => {
  it.each(deep)(
    "is rejected if it has too many %s, and the linter ruff can still check other code afterwards",
    async (_what, source) => {
      const message = expect.stringMatching(/^the code goes more than 500 levels deep - divide/);
      expect(await checkPython(source)).toEqual([{ kind: "size", message, line: 1, column: 1 }]);
      expect(await checkNodeCode(source, { nodeType: "action" })).toMatchObject([{ code: "PY105", message }]);
      expect(await checkPython("x = y")).toMatchObject([{ kind: "name" }]);
    },
  );

  it("is rejected with a message that gives its number of characters", async () => {
    const message = "the code has 760,003 characters, at most 200,000 are checked - ";
    const found = await checkPython(chain("+", 380_000));
    expect(found).toMatchObject([{ kind: "size", message: expect.stringContaining(message) }]);
  });

  it("is not searched for context keys", async () => {
    expect(listContextReads(`context["a"] = 1\n${chain("+", 2000)}`)).toEqual([]);
  });
});

describe("Python code that is not too long or too deep", () => {
  it.each([
    ["400 additions", chain("+", 400)],
    ["200 brackets", nested("(", ")", 200)],
    ["2,000 branches of one if", `a = 1\nif a: pass\n${"elif a: pass\n".repeat(2000)}`],
    ["a list of 10,000 numbers", `x = [${"1,".repeat(10_000)}]`],
  ])("is accepted with %s", async (_what, source) => {
    expect(await checkPython(source)).toEqual([]);
  });
});

describe("Python code of thousands of lines", () => {
  const lines = Array.from({ length: 7_000 }, (_, i) => i);

  it("has a key in each line, and findAssignedKeys returns the position of every key", () => {
    const source = lines.map((i) => `context["$${i}"] = 1`).join("\n");
    const found = findAssignedKeys(source, /^\$/);
    expect(found).toHaveLength(lines.length);
    expect(found.at(-1)).toEqual({ key: "$6999", line: 7_000, column: 1 });
  });

  it("assigns to the name context in each line, and findReboundContext returns the first of these assignments", () => {
    const source = lines.map(() => "context = {}").join("\n");
    expect(findReboundContext(source)).toMatchObject({ kind: "rebound", line: 1 });
  });

  it("is checked within the time limit of a test, even if it has 190,000 empty lines", async () => {
    const found = await checkNodeCode(`${"\n".repeat(190_000)}context["a"] = 1`, { nodeType: "action" });
    expect(found).toEqual([]);
  });
});

const kept = "context['a'] = 1\n";

describe("findReboundContext", () => {
  it.each([
    ["a dict", `${kept}context = {"total": 1}`, 2, 1],
    ["a dict made of NOVA's context", 'context = {**context, "total": 1}', 1, 1],
    ["a copy", "context = dict(context, total=1)", 1, 1],
    ["a merged dict", 'context = context | {"total": 1}', 1, 1],
    ["a dict with a type annotation", "context: dict = {k: v for k, v in context.items()}", 1, 1],
    ["several names", "é = 1; answer = context = dict(total=1)", 1, 17],
    ["a dict, in code that prints a result,", 'context = {"total": 1}\nprint(json.dumps(context))', 1, 1],
    ["a dict, in code that gives NOVA's context a second name,", 'given = context\ncontext = {"total": 1}', 2, 1],
    [
      "a dict, in code that passes NOVA's context to another module,",
      "mine.keep(context)\ncontext = dict(total=1)",
      2,
      1,
    ],
    ["a dict, in code that binds context only in some runs,", "if context['a']:\n    context = {}", 2, 5],
  ])("says how to copy %s into NOVA's context", (_what, source, line, column) => {
    expect(findReboundContext(source)).toEqual({
      kind: "rebound",
      message: expect.stringMatching(
        /^context becomes another object here, .+ - write context\.update\(\{\.\.\.\}\), or/,
      ),
      line,
      column,
    });
  });

  it.each([
    ["a value", "import ssl\ncontext = ssl.create_default_context()", 2, 1],
    ["the result of context or {}", "context = context or {}", 1, 1],
    ["a loop variable", "for n, context in enumerate([]): pass", 1, 8],
    ["an open file", "with open('x') as context:\n    pass", 1, 19],
    ["a module", "import ssl as context", 1, 15],
    ["an imported name", "from mine import context", 1, 18],
    ["a function", "def context(): pass", 1, 5],
    ["a class", "class context: pass", 1, 7],
    ["an exception", "try: pass\nexcept ValueError as context: pass", 2, 22],
    ["a part of a matched list", "match 1:\n    case [*context]: pass", 2, 12],
    ["the rest of a mapping", "match context['a']:\n    case {'b': 1, **context}: pass", 2, 21],
    ["a part of an unpacked list", "(a, [context, *b]) = (1, [2, 3])", 1, 6],
    ["the target of := in an expression", "if (context := 1): pass", 1, 5],
    ["a value that a function assigns to the global name", "def f():\n    global context\n    context = 1\nf()", 3, 5],
  ])("warns if context becomes %s", (_what, source, line, column) => {
    expect(findReboundContext(source)).toEqual({
      kind: "rebound",
      message: "context becomes another object here, which is not kept - use another name for it",
      line,
      column,
    });
  });

  it.each([
    ["changes in place", "context['a'] = 1\ncontext.update(b=2)\ncontext |= {'c': 3}\ndel context['a']"],
    ["the name of an argument or a field", "f(context=1)\nx.context = 2\nx['context'] = 3"],
    ["a function's own name", "def f(context):\n    context = {}\n    return lambda context: context"],
    ["a function that changes the context", "def f():\n    global context\n    context['a'] = 1\nf()"],
    ["a comprehension's own name", "x = [context for context in context.values()]"],
    ["a class's own name", "class A:\n    context = 1"],
    ["an annotation without a value", "context: dict"],
    ["a comment and a text", "# context = {}\nx = 'context = {}'\ny = '''\ncontext = {}\n'''"],
    ["a context for runs outside NOVA", "if 'context' not in globals():\n    context = {'a': 1}"],
    ["a try that replaces a missing context", "try:\n    context\nexcept NameError:\n    context = {'a': 1}"],
    ["a line with noqa", "context = {}  # noqa"],
    ["empty code", ""],
  ])("accepts %s", (_what, source) => {
    expect(findReboundContext(source)).toBeUndefined();
  });
});
