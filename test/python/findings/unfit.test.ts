import { checkNodeCode, shapeOf } from "@nova/python";
import { describe, expect, it } from "vitest";

const context = { prices: shapeOf({ a: 1 }), days: shapeOf(["2024-01-01"]) };

const findingsIn = async (source: string) => {
  const found = await checkNodeCode(`import re\nfrom datetime import date\n${source}`, { nodeType: "action", context });
  return found.map(({ code, message }) => `${code} ${message}`);
};

describe("the context cannot store", () => {
  it.each([
    ["a view of the context", "context['all'] = context['prices'].values()"],
    ["a view by an alias", "p = context['prices']\ncontext['all'] = {'names': p.keys()}"],
    ["the keys of the context itself", "context['all'] = context.keys()"],
    ["an exception that is made", "context['all'] = ValueError('x')"],
    ["an exception in a list", "context['all'] = [TimeoutError()]"],
    ["a buffer of a with", "import io\nwith io.StringIO() as b:\n  context['all'] = b"],
    ["behind an unknown key", "for d in context['days']:\n  context[d] = date.fromisoformat(d)"],
    ["beside a bare yield", "def f():\n  yield\nf()\ncontext['all'] = {1, 2}"],
  ])("%s", async (_, source) => {
    const found = await findingsIn(source);
    expect(found.map((each) => each.slice(0, 5))).toEqual(["PY150"]);
  });
});

describe("the context can store", () => {
  it.each([
    ["a list of a view", "context['all'] = list(context['prices'].values())"],
    ["what a class of the code calls items", "class A:\n  def items(self): return [1]\ncontext['all'] = A().items()"],
    [
      "put right by another loop",
      "for d in context['days']:\n  context[d] = date.today()\nfor d in context['days']:\n  context[d] = str(context[d])",
    ],
    ["taken away again", "for d in context['days']:\n  context[d] = date.today()\ncontext.clear()\ncontext['a'] = 1"],
    ["the text of a match", "context['all'] = [m.group() for m in re.finditer('a', context['days'][0])]"],
  ])("%s", async (_, source) => {
    expect(await findingsIn(source)).toEqual([]);
  });
});
