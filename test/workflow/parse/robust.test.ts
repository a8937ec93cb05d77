import { parseWorkflow } from "@nova/workflow";
import fc from "fast-check";
import { expect, it } from "vitest";
import { segmentsOf } from "../../../packages/workflow/src/findings/finding.ts";
import { action, approval, decision, each, edge, end, type Loose, start, wait } from "../definition.ts";

const whole: Loose = {
  id: "whole",
  name: "Whole",
  timeout: 60,
  requirements: ["pandas"],
  inputs: { properties: { total: { type: "number", secret: true } }, required: ["total"] },
  nodes: [
    start,
    decision("d", { onError: "b" }),
    action("a", { effects: false, retry: { attempts: 2, delay: 3 }, isolation: "fresh" }),
    action("b", { code: undefined, codeFile: "b.py", merge: "last" }),
    each("m", [action("one"), action("two"), { id: "done", type: "end" }], ["one > two", "two > done"], {
      tolerated_failures: "10%",
      max_concurrency: 2,
      as: "it",
      into: "all",
    }),
    approval("ask", { form: { properties: { why: { type: "string" } } }, choices: ["yes"], timeout: "3d", to: ["me"] }),
    wait("w", {
      event: { source: ["shop", { prefix: "a" }], detail: { n: [{ numeric: [">", 0] }], m: ["{{n}}"] } },
      timeout: 60,
    }),
    wait("u", { until: "{{a.b}}", onError: "end" }),
    end,
  ],
  edges: [
    ...["start > d", "d > a: true", 'd > b: "default"', "a > b", "b > m", "b > ask", 'ask > w: "yes"'],
    ...["m > u", "w > u", "u > end"],
  ].map(edge),
};

function placesIn(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [path];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [path, ...keys.flatMap((key) => placesIn((value as Loose)[key], [...path, key]))];
}

function isPlace(value: unknown, [key, ...rest]: (string | number)[]): boolean {
  if (key === undefined) return true;
  return (
    typeof value === "object" && value !== null && Object.hasOwn(value, key) && isPlace((value as Loose)[key], rest)
  );
}

/**
 * Returns a copy of a JSON value in which a path leads to another value, or to no value if the other value is
 * `undefined`.
 */
function replaced(value: unknown, [key, ...rest]: (string | number)[], other: unknown): unknown {
  if (key === undefined) return other;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as Loose) }) as Loose;
  copy[key] = replaced(copy[key], rest, other);
  return copy;
}

/** Texts that occur in a message only by mistake. The damaged values do not contain them. */
const unwritten = /undefined|\[object|NaN/;

const strange = fc.oneof(
  fc.constantFrom(undefined, null, "", "start", "d", "constructor", "__proto__", 0, -1, 1e300, true, [], {}, [[]], {
    toString: null,
  }),
  fc.jsonValue({ maxDepth: 2 }).filter((value) => !unwritten.test(JSON.stringify(value))),
);

function parsed(definition: unknown) {
  const text = JSON.stringify(definition) ?? "";
  return parseWorkflow({ text, fileName: "workflow.json", folder: "f", files: { "b.py": "x = 1" } });
}

it("the definition that the next tests damage at random is valid before it is damaged", () => {
  expect(parsed(whole).findings).toEqual([]);
});

it("a definition that is damaged at random results in a workflow or in errors with paths, and the parser never throws", {
  tags: ["deep"],
  timeout: 120_000,
}, () => {
  const places = placesIn(whole);
  const damage = fc.array(fc.tuple(fc.constantFrom(...places), strange), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(damage, (changes) => {
      const damaged = changes.reduce<unknown>((value, [place, other]) => {
        return isPlace(value, place) ? replaced(value, place, other) : value;
      }, whole);
      const { workflow, findings } = parsed(damaged);
      expect(workflow === undefined).toBe(findings.some((one) => one.severity === "error"));
      for (const { path, line, column, message } of findings) {
        expect([line, column].every((place) => Number.isInteger(place))).toBe(true);
        expect(path === "$" || segmentsOf(path).length > 0).toBe(true);
        expect(message).not.toMatch(unwritten);
      }
    }),
    { numRuns: 1000 },
  );
});

it("a random text instead of a definition results in findings, and the parser never throws", () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      expect(parseWorkflow({ text, fileName: "w.json", files: {} }).findings).not.toEqual([]);
    }),
  );
});
