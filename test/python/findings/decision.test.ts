import { checkNodeCode, shapeOf } from "@nova/python";
import { describe, expect, it } from "vitest";

const facts = { nodeType: "decision" as const, edges: ["yes", "no"], context: { n: shapeOf(1) } };

const errorsIn = async (source: string) => {
  const found = await checkNodeCode(source, facts);
  return found.filter(({ severity }) => severity === "error").map(({ code }) => code);
};

describe("a decision never decides if it", () => {
  it.each([
    ["sets another key", "context['decision'] = 'yes'"],
    ["sets another key in an object's context", "class A:\n  c = context\nA().c['decision'] = 'yes'"],
    ["takes over what a function answers", "def f():\n  return {'decision': 'yes'}\ncontext.update(f())"],
    ["adds a dict without it", "context |= dict(decision='yes')"],
    ["prints the context that has none", "context['decision'] = 'yes'\nprint(json.dumps(context))"],
  ])("%s", async (_, source) => {
    expect(await errorsIn(source)).toEqual(["PY130"]);
  });
});

describe("a decision may decide if it", () => {
  it.each([
    ["sets it in a loop", "for k, v in {'branch_decision': 'yes', 'n': 2}.items():\n  context[k] = v"],
    ["sets it in an object's context", "class A:\n  c = context\nA().c['branch_decision'] = 'yes'"],
    ["takes over what a function answers", "def f():\n  return {'branch_decision': 'no'}\ncontext.update(f())"],
    ["adds a dict with it", "context |= dict(branch_decision='yes')"],
    ["prints it beside the context", "print(json.dumps({**context, 'branch_decision': 'yes'}))"],
    ["prints it in updates", "u = {}\nu['branch_decision'] = 'no'\nprint(json.dumps({'context_updates': u}))"],
    ["prints what it does not know", "print(json.dumps({'context_updates': {**json.loads(context['y'])}}))"],
    ["sets it by a computed key", "context[str(context['n'])] = 'yes'"],
  ])("%s", async (_, source) => {
    expect(await errorsIn(source)).not.toContain("PY130");
  });
});
