import { checkNodeCode, shapeOf } from "@nova/python";
import { describe, expect, it } from "vitest";
import { findNearest, isSlip, suggestInstead } from "../../../packages/python/src/findings/suggest.ts";

describe("isSlip", () => {
  it.each([
    ["emial_user", "email_user"],
    ["emailUser", "email_user"],
    ["totl", "total"],
    ["invoce_total", "invoice_total"],
    ["Total", "total"],
  ])("takes %s for a misspelling of %s", (wrong, right) => {
    expect(isSlip(wrong, right)).toBe(true);
  });

  it.each([
    ["price_1", "price_2"],
    ["name_de", "name_en"],
    ["amounts", "amount"],
    ["min_price", "max_price"],
    ["receipt_total", "invoice_total"],
  ])("does not take %s for a misspelling of %s", (wrong, right) => {
    expect(isSlip(wrong, right)).toBe(false);
  });
});

it.each([
  ["totl", ["total", "kind"], 'did you mean "total"?'],
  ["zzz", ["total", "kind"], "it has total, kind"],
  ["zzz", [], "it is empty, so set the key first"],
  [
    "zzz",
    Array.from({ length: 10 }, (_, n) => `key${n}`),
    "it has key0, key1, key2, key3, key4, key5, key6, key7 and 2 more",
  ],
])("suggestInstead(%s) with the keys %j returns: %s", (wrong, keys, text) => {
  expect(suggestInstead(wrong, keys)).toBe(text);
});

it("findNearest finds a key whose name is part of the wrong name", () => {
  expect(findNearest("customer_email_address", ["customer_email", "id"])).toBe("customer_email");
});

const codesIn = async (source: string) => {
  const found = await checkNodeCode(source, { nodeType: "action", context: { total: shapeOf(1) } });
  return found.map(({ code }) => code);
};

it.each([
  [
    "the code reads the __dict__ of an object",
    "class A: pass\na = A()\ncontext['d'] = a.__dict__\ncontext['x'] = totl",
  ],
  ["the code adds to the __dict__ of an object", "class A: pass\na = A()\na.__dict__.update(b=1)\ncontext['x'] = totl"],
  ["the code sets an attribute by its name", "class A: pass\na = A()\nsetattr(a, 'b', 1)\ncontext['x'] = totl"],
  ["the code has only one line", "context['x'] = totl"],
])("an undefined name in a node's code is an error, even if %s", async (_, source) => {
  expect(await codesIn(source)).toEqual(["PY102"]);
});

it.each([
  ["exec", "exec(str(context['total']))\ncontext['x'] = made"],
  ["globals", "globals()['made'] = 1\ncontext['x'] = made"],
  ["the code's own module", "import sys\nsetattr(sys.modules[__name__], 'made', 1)\ncontext['x'] = made"],
  ["builtins", "import builtins\nbuiltins.made = 1\ncontext['x'] = made"],
])("an undefined name in a node's code is a warning if %s may define it", async (_, source) => {
  expect(await codesIn(source)).toEqual(["PY104"]);
});
