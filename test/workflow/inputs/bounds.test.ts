import { describe, expect, it, vi } from "vitest";
import { CheckStopped, DeadlineWorker } from "../../../packages/workflow/src/deadline/deadline-worker.ts";
import { compiledSchema } from "../../../packages/workflow/src/inputs/ajv.ts";
import { checkSchema } from "../../../packages/workflow/src/inputs/check-schema.ts";
import { checkContext, checkData } from "../../../packages/workflow/src/inputs/within-time.ts";
import { address } from "../../../packages/workflow/src/inputs/worker.ts";

type Schema = Record<string, unknown>;

function nested(levels: number, around: (inner: Schema) => Schema): Schema {
  let schema: Schema = { type: "string" };
  for (let level = 0; level < levels; level++) schema = around(schema);
  return schema;
}

/** Builds a schema with a chain of `length` references. */
function chain(length: number): Schema {
  const links = Array.from({ length }, (_, i) => [`d${i}`, { allOf: [{ $ref: `#/$defs/d${i + 1}` }] }]);
  return { $defs: Object.fromEntries([...links, [`d${length}`, {}]]), $ref: "#/$defs/d0" };
}

/** A schema that refers to itself twice, so that each level of a value doubles the work. */
const doubling = {
  $defs: { n: { properties: { c: { allOf: [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/n" }] } } } },
  $ref: "#/$defs/n",
};

describe("a JSON schema in a definition", () => {
  it.each([
    [
      "nested levels",
      nested(100, (inner) => ({ anyOf: [{ type: "number" }, inner] })),
      /more than 60 levels deep - move/,
    ],
    ["nested fields", nested(100, (inner) => ({ properties: { a: inner } })), /more than 60 levels deep - move/],
    ["size", { enum: Array.from({ length: 20_000 }, (_, i) => `key ${i}`) }, /at most 100,000 are taken - /],
    ["chain of references", chain(1000), /references lead on too many times - make it flatter/],
    [
      "pattern that RE2 does not support",
      { properties: { a: { pattern: "(?=x)" } } },
      /cannot run the pattern "\(\?=x\)" - write/,
    ],
    [
      "pattern for names that RE2 does not support",
      { patternProperties: { "(?=x)": {} } },
      /cannot run the pattern "\(\?=x\)" - write/,
    ],
  ])("is refused because of its %s", (_what, schema, message) => {
    expect(checkSchema(schema).problems).toEqual([{ segments: [], message: expect.stringMatching(message) }]);
  });

  it.each([
    ["25 nested alternatives", nested(25, (inner) => ({ anyOf: [{ type: "number" }, inner] }))],
    [
      "a thousand fields",
      { properties: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key_${i}`, { type: "string" }])) },
    ],
  ])("is accepted with %s", (_what, schema) => {
    expect(checkSchema(schema).problems).toEqual([]);
  });

  it("is compiled once, and is compiled again only after fifty other schemas", () => {
    const first = compiledSchema('{"title":"first"}');
    expect(compiledSchema('{"title":"first"}')).toBe(first);
    for (let i = 0; i < 50; i++) compiledSchema(`{"title":"other ${i}"}`);
    expect(compiledSchema('{"title":"first"}')).not.toBe(first);
  });
});

describe("a value that is checked against a JSON schema", () => {
  it("is refused if the check reaches its deadline", async () => {
    let expire: () => void = () => undefined;
    const started = new Promise<void>((resolve) => {
      expire = resolve;
    });
    const timers: (() => void)[] = [];
    vi.stubGlobal("setTimeout", (end: () => void) => {
      timers.push(end);
      expire();
    });
    const worker = new DeadlineWorker({ name: "schemas", address: async () => address, deadlineMs: 5000 });
    const deep = `${'{"c":'.repeat(100)}1${"}".repeat(100)}`;
    const checking = worker.call("validateInputs", doubling, deep, []);
    await started;
    timers[0]?.();
    vi.unstubAllGlobals();
    await expect(checking).rejects.toThrow(CheckStopped);
  });

  it("is refused with a message if the check overflows the stack", { tags: ["deep"] }, async () => {
    const message = expect.stringMatching(/goes too many levels deep - simplify the schema, or send less/);
    expect(await checkContext({ inputs: chain(20_000) as never }, "{}")).toMatchObject([{ code: "NOVA507", message }]);
    expect(await checkData(chain(20_000) as never, "{}")).toEqual([
      "checking it goes too many levels deep - send less, or simplify the form",
    ]);
    expect(await checkContext({ inputs: { required: ["a"] } }, "{}")).toMatchObject([{ code: "NOVA505" }]);
  });
});
