import { RawJson, renderJson } from "@nova/engine";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { listAnswer, pageOfAll, pageQuery } from "../../../../functions/api/schemas/list.ts";
import * as values from "../../../../functions/api/schemas/values.ts";

const good: [string, z.ZodType, unknown[]][] = [
  ["WorkflowId", values.WorkflowId, ["a", "invoice-2", "0".repeat(64)]],
  ["ExecutionId", values.ExecutionId, ["exec_01M80YJAR8RA1ESRW03H0659XA"]],
  ["Slug", values.Slug, ["acme", "a", "0-9"]],
  ["Name", values.Name, ["Acme", "\u00c5cme & S\u00f6hne", "\u{1f4a9}", "x".repeat(200)]],
  ["VersionNumber", values.VersionNumber, [1, 1_000_000_000]],
  ["ExactObject", values.ExactObject, [new RawJson("{}"), new RawJson('{"a": 1}')]],
  ["wholeNumber", values.wholeNumber(0, 25), ["0", "25", "007"]],
  ["Flag", values.Flag, ["", "true", "false"]],
];

const bad: [string, z.ZodType, unknown[]][] = [
  ["WorkflowId", values.WorkflowId, ["", "A", "-a", "a_b", "0".repeat(65), "a\n", 5]],
  [
    "ExecutionId",
    values.ExecutionId,
    ["exec_", "exec_01m80yjar8ra1esrw03h0659xa", "exec_01M80YJAR8RA1ESRW03H0659XA.1"],
  ],
  ["Slug", values.Slug, ["", "Acme", "a/b", "../x", "*", "x".repeat(64)]],
  ["Name", values.Name, ["", "a\u0000", "\u001b[2J", "\u009b2J", "a\nb", "x".repeat(201)]],
  ["VersionNumber", values.VersionNumber, [0, -1, 1.5, "1", 1_000_000_001]],
  ["ExactObject", values.ExactObject, [{}, new RawJson("[]"), new RawJson('"{}"'), null]],
  ["wholeNumber", values.wholeNumber(0, 25), ["", "-1", "26", "1.0", "1e1", " 1", "0x1", 1]],
  ["Flag", values.Flag, ["1", "yes", "TRUE"]],
];

describe("values in API requests", () => {
  it.each(good)("of the type %s can be %j", (_name, schema, all) => {
    for (const value of all) expect(schema.safeParse(value).success).toBe(true);
  });

  it.each(bad)("of the type %s cannot be %j", (_name, schema, all) => {
    expect(all.filter((value) => schema.safeParse(value).success)).toEqual([]);
  });

  it("in paths and queries are parsed to their types", () => {
    expect(values.wholeNumber(0, 25).parse("007")).toBe(7);
    expect(["", "true", "false"].map((text) => values.Flag.parse(text))).toEqual([true, true, false]);
  });
});

describe("a list of the API", () => {
  const all = ["a", "b", "c", "d", "e"];
  const shown = (text: string) => text.toUpperCase();

  it("can be read from start to end with cursors", () => {
    const walked: unknown[] = [];
    for (let cursor: string | null = null, page = 0; page < 9; page++) {
      const query = pageQuery({ limit: 2, ...(cursor !== null && { cursor }) }, /^\d+$/);
      const { items, next_cursor } = listAnswer(pageOfAll(all, query, shown));
      walked.push(...items);
      cursor = next_cursor;
      if (cursor === null) break;
    }
    expect(renderJson(walked)).toBe('["A","B","C","D","E"]');
  });

  it("has fifty items per page by default", () => {
    expect(pageQuery({}, /./)).toEqual({ limit: 50 });
  });

  it.each(["abc", "", "4 "])("has no page for the cursor %j", (position) => {
    const cursor = Buffer.from(position).toString("base64url");
    expect(() => pageQuery({ cursor }, /^\d+$/)).toThrow(/the cursor is unknown/);
  });
});
