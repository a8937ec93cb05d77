import { checkNodeCode, shapeOf } from "@nova/python";
import { describe, expect, it } from "vitest";

const context = {
  lines: shapeOf([{ price: 1.5, quantity: 2, tags: [{ word: "a" }] }]),
  orders: shapeOf([{ id: 1, lines: [{ price: 1 }] }]),
  nothing: shapeOf([]),
  order: shapeOf({ id: 1, lines: [{ price: 1 }] }),
};

async function errorsOf(source: string): Promise<string[]> {
  const found = await checkNodeCode(source, { nodeType: "action", context });
  return found.filter(({ severity }) => severity === "error").map(({ code }) => code);
}

describe("a key that the first item has not", () => {
  it.each([
    ["by its index", "context['x'] = context['lines'][0]['amount']"],
    ["in a loop", "t = 0\nfor line in context['lines']:\n    t += line['amount']\ncontext['x'] = t"],
    ["in a loop with a number", "for n, line in enumerate(context['lines']):\n    line['n'] = line['amount'] + n"],
    ["in a list", "context['x'] = [line['amount'] for line in context['lines']]"],
    ["in a sum", "context['x'] = sum(line['amount'] for line in context['lines'])"],
    ["in a text", "context['x'] = ', '.join(str(line['amount']) for line in context['lines'])"],
    ["in any()", "context['x'] = any(line['amount'] > 2 for line in context['lines'])"],
    ["in the condition of a list", "context['x'] = [1 for line in context['lines'] if line['amount'] > 2]"],
    ["in a loop in a loop", "context['x'] = [line['amount'] for o in context['orders'] for line in o['lines']]"],
    ["in items by a name", "rows = context['order']['lines']\ncontext['x'] = [row['amount'] for row in rows]"],
    ["behind a default", "context['x'] = [row['amount'] for row in context.get('lines', [])]"],
    ["in sorted items", "context['x'] = [row['amount'] for row in sorted(context['lines'], key=len)]"],
    ["in what sorts", "context['lines'].sort(key=lambda line: line['amount'])"],
    ["in what the least is told by", "context['x'] = min(context['lines'], key=lambda line: line['amount'])"],
    [
      "in a function",
      "def total(rows):\n    return sum(row['amount'] for row in rows)\ncontext['x'] = total(context['lines'])",
    ],
  ])("is certainly missing %s", async (_where, source) => {
    expect(await errorsOf(source)).toEqual(["PY111"]);
  });

  it.each([
    ["in another item", "context['x'] = context['lines'][1]['amount']"],
    ["in the last one", "context['x'] = context['lines'][-1]['amount']"],
    ["in some of them", "context['x'] = [row['amount'] for row in context['lines'] if row['price'] > 2]"],
    ["behind a continue", loop("if row['price'] < 2:\n        continue", "context['x'] = row['amount']")],
    ["behind a try that goes on", loop("try:\n        n()\n    except OSError:\n        continue", "n(row['amount'])")],
    ["in a try for something else", loop("try:\n        n(row['amount'])\n    except ValueError:\n        n()")],
    ["in a branch", loop("if row['price'] > 2:\n        context['x'] = row['amount']")],
    ["in sorted items up to one", loop("n(row['amount'])\n    break", "", "sorted(context['lines'], key=len)")],
    ["in a list without items", "context['x'] = [row['amount'] for row in context['nothing']]"],
    ["in a loop over nothing", "context['x'] = [r['amount'] for n in context['nothing'] for r in context['lines']]"],
    ["in rows that nobody takes", "rows = (row['amount'] for row in context['lines'])\ncontext['x'] = 1"],
    ["behind the first", "context['x'] = [row['amount'] for row in context['lines'][1:]]"],
    [
      "in a list that loses some",
      "context['lines'].pop(0)\ncontext['x'] = [row['amount'] for row in context['lines']]",
    ],
    ["that it was given", loop("row['amount'] = 1", "context['x'] = row['amount']")],
    ["in a list of others", "context['lines'] = rows()\ncontext['x'] = [row['amount'] for row in context['lines']]"],
  ])("may be there %s", async (_where, source) => {
    expect(await errorsOf(`${source}\n\n\ndef rows(): return []\ndef n(*_): context['n'] = 1\n`)).toEqual([]);
  });
});

function loop(first: string, second = "", over = "context['lines']"): string {
  return `for row in ${over}:\n    ${first}\n    ${second || "pass"}\ncontext['done'] = 1`;
}

describe("an optional key", () => {
  const facts = {
    nodeType: "action",
    context: { customer: shapeOf("a"), total: shapeOf(1), data: shapeOf("x") },
  } as const;

  it.each([
    ["a slip for a key that nobody reads", "context['x'] = context.get('custmer', '')", "PY110"],
    ["two letters that changed places", "context['x'] = context.get('cusotmer')", "PY110"],
    ["a slip beside the key itself", "context['x'] = context.get('custmer') or context['customer']", "PY112"],
    ["another word of the same length", "context['x'] = context.get('date')", "PY112"],
    ["several of it", "context['x'] = context.get('totals', [])", "PY112"],
    ["a longer name", "context['x'] = context.get('customer_name', '')", "PY112"],
  ])("that is %s", async (_what, source, code) => {
    expect((await checkNodeCode(source, facts)).map((finding) => finding.code)).toEqual([code]);
  });

  it("that is nobody's slip is nothing", async () => {
    expect(await checkNodeCode("context['x'] = context.get('currency', 'EUR')", facts)).toEqual([]);
  });
});
