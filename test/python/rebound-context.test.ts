import { findReboundContext } from "@nova/python";
import { describe, expect, it } from "vitest";

const kept = "context['a'] = 1\n";

describe("findReboundContext", () => {
  it.each([
    ["a dict", `${kept}context = {"total": 1}`, 2, 1],
    ["a dict made of the given one", 'context = {**context, "total": 1}', 1, 1],
    ["a copy", "context = dict(context, total=1)", 1, 1],
    ["a merged dict", 'context = context | {"total": 1}', 1, 1],
    ["a dict with a type", "context: dict = {k: v for k, v in context.items()}", 1, 1],
    ["several names", "é = 1; answer = context = dict(total=1)", 1, 17],
    ["a dict, also where a result is printed", 'context = {"total": 1}\nprint(json.dumps(context))', 1, 1],
    ["a dict, also where the given one has a second name", 'given = context\ncontext = {"total": 1}', 2, 1],
    ["a dict, also where another module has the given one", "mine.keep(context)\ncontext = dict(total=1)", 2, 1],
    ["a dict, also where it is not always so", "if context['a']:\n    context = {}", 2, 5],
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
    ["a default", "context = context or {}", 1, 1],
    ["a loop variable", "for n, context in enumerate([]): pass", 1, 8],
    ["an open file", "with open('x') as context:\n    pass", 1, 19],
    ["a module", "import ssl as context", 1, 15],
    ["an imported name", "from mine import context", 1, 18],
    ["a function", "def context(): pass", 1, 5],
    ["a class", "class context: pass", 1, 7],
    ["an exception", "try: pass\nexcept ValueError as context: pass", 2, 22],
    ["a pattern", "match 1:\n    case [*context]: pass", 2, 12],
    ["the rest of a mapping", "match context['a']:\n    case {'b': 1, **context}: pass", 2, 21],
    ["part of a list", "(a, [context, *b]) = (1, [2, 3])", 1, 6],
    ["part of an expression", "if (context := 1): pass", 1, 5],
    ["a function's global", "def f():\n    global context\n    context = 1\nf()", 3, 5],
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
    ["a function that changes it", "def f():\n    global context\n    context['a'] = 1\nf()"],
    ["a comprehension's own name", "x = [context for context in context.values()]"],
    ["a class's own name", "class A:\n    context = 1"],
    ["a type alone", "context: dict"],
    ["a comment and a text", "# context = {}\nx = 'context = {}'\ny = '''\ncontext = {}\n'''"],
    ["a stand-in for runs elsewhere", "if 'context' not in globals():\n    context = {'a': 1}"],
    ["another stand-in", "try:\n    context\nexcept NameError:\n    context = {'a': 1}"],
    ["a line that asks for silence", "context = {}  # noqa"],
    ["nothing", ""],
  ])("accepts %s", (_what, source) => {
    expect(findReboundContext(source)).toBeUndefined();
  });
});
