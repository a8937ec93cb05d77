import { describe, expect, it } from "vitest";
import { describeFailure, normalizeMessage } from "../../../../../packages/console/src/pages/run/fix/failed-line.ts";

const traceback = (file: string, line: number) =>
  `Traceback (most recent call last):\n  File "${file}", line ${line}, in <module>\n    x\nKeyError: 'x'\n`;
const code = "a = 1\ncontext['sum'] = context['net'] + context[\"vat\"] * context.get('mail.rate') + context['gone']\n";

describe("the description of a failure", () => {
  it("contains the failed line of the node's own code, and all digits of each value that the line reads", () => {
    const entry = { code_executed: code, traceback: traceback("nodes/sum.py", 2) + traceback("/home/lib/x.py", 9) };
    expect(describeFailure(entry, '{"net": 850.0, "vat": 12345678901234567890, "mail": {"rate": "2"}}')).toEqual({
      line: 2,
      source: "context['sum'] = context['net'] + context[\"vat\"] * context.get('mail.rate') + context['gone']",
      values: [
        { key: "net", text: "850.0" },
        { key: "vat", text: "12345678901234567890" },
        { key: "mail.rate", text: '"2"' },
        { key: "gone", text: undefined },
      ],
    });
  });

  it("contains the keys that earlier lines read to set the variables in the failed line", () => {
    const lines = [
      'text, other = context["text"], context["other"]',
      "first = text.splitlines()[0]",
      'for row in context["rows"]:',
      '    context["total"] = find_total(first, row["other"], context["gone"]) + str(4)',
      'str = context["late"]',
    ];
    const entry = { code_executed: lines.join("\n"), traceback: traceback("nodes/sum.py", 4) };
    const values = describeFailure(entry, '{"text": "a", "other": 1, "rows": [], "late": 2}')?.values;
    expect(values).toEqual([
      { key: "gone", text: undefined },
      { key: "text", text: '"a"' },
      { key: "other", text: "1" },
      { key: "rows", text: "[]" },
    ]);
  });

  it("is absent if there is no traceback, or if the code does not have the failed line", () => {
    expect(describeFailure({ code_executed: code, traceback: null }, "{}")).toBeUndefined();
    expect(describeFailure({ code_executed: code, traceback: traceback("nodes/sum.py", 7) }, "{}")).toBeUndefined();
  });
});

it("messages that differ only in their values count as one error", () => {
  expect(normalizeMessage("KeyError: 'USD' at 12.5")).toBe(normalizeMessage("KeyError: 'EUR' at 7"));
  expect(normalizeMessage("sandbox i24ee64 was lost")).toBe(normalizeMessage("sandbox ib3 was lost"));
  expect(normalizeMessage("KeyError: 'USD'")).not.toBe(normalizeMessage("ValueError: 'USD'"));
});
