import { onlyPath, templateParts } from "@nova/workflow";
import fc from "fast-check";
import { expect, it } from "vitest";
import { brokenGap } from "../../../packages/workflow/src/template/template.ts";

const text = (text: string) => ({ kind: "text", text });
const path = (path: string) => ({ kind: "path", path });

it.each([
  ["", []],
  ["Pay?", [text("Pay?")]],
  ["{{total}}", [path("total")]],
  [
    "Pay {{ invoice.total }} to {{list.0.my name}}.",
    [text("Pay "), path("invoice.total"), text(" to "), path("list.0.my name"), text(".")],
  ],
  ["{{a}}{{b}}", [path("a"), path("b")]],
  ["{{größe.café}}", [path("größe.café")]],
  ['{"a": {"b": 1}}', [text('{"a": {"b": 1}}')]],
  ["{{ }} {{a..b}} {{a.}} {{.a}} {{a} {{b}}", [text("{{ }} {{a..b}} {{a.}} {{.a}} {{a} "), path("b")]],
])("the message template %j is split into texts and paths", (template, parts) => {
  expect(templateParts(template)).toEqual(parts);
});

it("the parts of a message template add up to the whole template, and many braces do not slow down the split", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("{", "}", " ", ".", "a") }), (template) => {
      const written = templateParts(template).map((part) => (part.kind === "text" ? part.text : `{{${part.path}}}`));
      expect(written.join("").replaceAll(" ", "")).toBe(template.replaceAll(" ", ""));
    }),
  );
  expect(templateParts("{{".repeat(100_000))).toHaveLength(1);
});

it.each([
  ["{{a.b}}", "a.b"],
  [" {{ a }} ", "a"],
  ["at {{a}}", undefined],
  ["{{a}}{{b}}", undefined],
  ["a", undefined],
])(
  "onlyPath(%j) returns %j: the only path in a template, or undefined if there is other text or a second path",
  (template, expected) => {
    expect(onlyPath(template)).toBe(expected);
  },
);

it.each([
  ["{{a}} and { a }", undefined],
  ["{{a} b", "{{a"],
  ["pay {{ }}?", "{{ }}"],
  ["{{a b.}}", "{{a b.}}"],
  ["a}} b", "}}"],
])(
  "brokenGap(%j) returns %j: the first faulty braces in a template, or undefined if there are none",
  (template, expected) => {
    expect(brokenGap(template)).toBe(expected);
  },
);
