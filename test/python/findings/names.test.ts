import { checkNodeCode, shapeOf } from "@nova/python";
import { expect, it } from "vitest";

const codesIn = async (source: string) => {
  const found = await checkNodeCode(source, { nodeType: "action", context: { total: shapeOf(1) } });
  return found.map(({ code }) => code);
};

it.each([
  ["an attribute dict is read", "class A: pass\na = A()\ncontext['d'] = a.__dict__\ncontext['x'] = totl"],
  ["an attribute dict is filled", "class A: pass\na = A()\na.__dict__.update(b=1)\ncontext['x'] = totl"],
  ["attributes are set", "class A: pass\na = A()\nsetattr(a, 'b', 1)\ncontext['x'] = totl"],
  ["nothing is made at run time", "context['x'] = totl"],
])("an undefined name is an error although %s", async (_, source) => {
  expect(await codesIn(source)).toEqual(["PY102"]);
});

it.each([
  ["exec", "exec(str(context['total']))\ncontext['x'] = made"],
  ["globals", "globals()['made'] = 1\ncontext['x'] = made"],
  ["its own module", "import sys\nsetattr(sys.modules[__name__], 'made', 1)\ncontext['x'] = made"],
  ["builtins", "import builtins\nbuiltins.made = 1\ncontext['x'] = made"],
])("an undefined name is a warning if %s may define it", async (_, source) => {
  expect(await codesIn(source)).toEqual(["PY104"]);
});
