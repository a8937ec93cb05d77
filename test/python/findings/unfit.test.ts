import { checkNodeCode, shapeOf } from "@nova/python";
import { describe, expect, it } from "vitest";

const context = { prices: shapeOf({ a: 1 }), days: shapeOf(["2024-01-01"]) };

const findingsIn = async (source: string) => {
  const found = await checkNodeCode(`import re\nfrom datetime import date\n${source}`, { nodeType: "action", context });
  return found.map(({ code, message }) => `${code} ${message}`);
};

describe("the context of a run cannot store", () => {
  it.each([
    ["a view of the context", "context['all'] = context['prices'].values()"],
    ["a view of a value that has another name", "p = context['prices']\ncontext['all'] = {'names': p.keys()}"],
    ["the keys of the context itself", "context['all'] = context.keys()"],
    ["a new exception", "context['all'] = ValueError('x')"],
    ["an exception in a list", "context['all'] = [TimeoutError()]"],
    ["a buffer that a with opens", "import io\nwith io.StringIO() as b:\n  context['all'] = b"],
    ["a date under a computed key", "for d in context['days']:\n  context[d] = date.fromisoformat(d)"],
    ["a set, in code with a bare yield", "def f():\n  yield\nf()\ncontext['all'] = {1, 2}"],
  ])("a value such as %s", async (_, source) => {
    const found = await findingsIn(source);
    expect(found.map((each) => each.slice(0, 5))).toEqual(["PY150"]);
  });
});

describe("the context of a run can store", () => {
  it.each([
    ["a list made of a view", "context['all'] = list(context['prices'].values())"],
    [
      "the result of a method items() of the code's own class",
      "class A:\n  def items(self): return [1]\ncontext['all'] = A().items()",
    ],
    [
      "dates that another loop turns into texts",
      "for d in context['days']:\n  context[d] = date.today()\nfor d in context['days']:\n  context[d] = str(context[d])",
    ],
    [
      "dates that the code removes again",
      "for d in context['days']:\n  context[d] = date.today()\ncontext.clear()\ncontext['a'] = 1",
    ],
    ["the text of a match", "context['all'] = [m.group() for m in re.finditer('a', context['days'][0])]"],
  ])("a value such as %s", async (_, source) => {
    expect(await findingsIn(source)).toEqual([]);
  });
});

const facts = { nodeType: "decision" as const, edges: ["yes", "no"], context: { n: shapeOf(1) } };

const errorsIn = async (source: string) => {
  const found = await checkNodeCode(source, facts);
  return found.filter(({ severity }) => severity === "error").map(({ code }) => code);
};

describe("a decision has an error, because it never decides, if its code", () => {
  it.each([
    ["sets another key", "context['decision'] = 'yes'"],
    ["sets another key in an object's context", "class A:\n  c = context\nA().c['decision'] = 'yes'"],
    [
      "adds the result of a function that lacks the decision",
      "def f():\n  return {'decision': 'yes'}\ncontext.update(f())",
    ],
    ["adds a dict without the decision", "context |= dict(decision='yes')"],
    ["prints a context without the decision", "context['decision'] = 'yes'\nprint(json.dumps(context))"],
  ])("%s", async (_, source) => {
    expect(await errorsIn(source)).toEqual(["PY130"]);
  });
});

describe("a decision has no error, because it may decide, if its code", () => {
  it.each([
    ["sets the decision in a loop", "for k, v in {'branch_decision': 'yes', 'n': 2}.items():\n  context[k] = v"],
    [
      "sets the decision in a context that an object holds",
      "class A:\n  c = context\nA().c['branch_decision'] = 'yes'",
    ],
    [
      "adds the result of a function that contains the decision",
      "def f():\n  return {'branch_decision': 'no'}\ncontext.update(f())",
    ],
    ["adds a dict with the decision", "context |= dict(branch_decision='yes')"],
    ["prints the decision beside the context", "print(json.dumps({**context, 'branch_decision': 'yes'}))"],
    [
      "prints the decision in context_updates",
      "u = {}\nu['branch_decision'] = 'no'\nprint(json.dumps({'context_updates': u}))",
    ],
    ["prints unknown updates", "print(json.dumps({'context_updates': {**json.loads(context['y'])}}))"],
    ["sets a computed key", "context[str(context['n'])] = 'yes'"],
  ])("%s", async (_, source) => {
    expect(await errorsIn(source)).not.toContain("PY130");
  });
});
