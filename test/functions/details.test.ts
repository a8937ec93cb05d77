import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

const warned: unknown[][] = [];
vi.mock("../../functions/app.ts", () => ({ logger: { warn: (...line: unknown[]) => void warned.push(line) } }));

const { answerOf, detailsIn } = await import("../../functions/details.ts");

beforeEach(() => {
  warned.length = 0;
});

const delivery = { id: "dlv_1", execution: null, reason: "nobody has this address", from: "ada@example.com" };

describe("what a function says of a delivery", () => {
  it.each(["refused", "failed"])("is a line that a metric counts where it was %s", (status) => {
    answerOf({ ...delivery, status });
    expect(warned).toEqual([["delivery refused", { delivery: "dlv_1", status }]]);
  });

  it.each(["started", "accepted", "ignored"])("is no line where it was %s", (status) => {
    answerOf({ ...delivery, status });
    expect(warned).toEqual([]);
  });

  it("names no sender, and no reason in the line, which may quote what came in", () => {
    const answer = answerOf({ ...delivery, status: "refused" });
    expect(answer).toEqual({ id: "dlv_1", status: "refused", execution: null, reason: "nobody has this address" });
    expect(JSON.stringify(answer)).not.toContain("ada");
    expect(JSON.stringify(warned)).not.toContain("nobody");
  });

  it("has no id where nothing was recorded", () => {
    expect(answerOf({ status: "ignored", execution: null, reason: "no such trigger" })).not.toHaveProperty("id");
  });
});

const Run = z.object({ id: z.string() });
const event = (id: string) => ({ source: "nova", detail: { id } });

describe("what an invocation is about", () => {
  it.each<[string, unknown, string[]]>([
    ["is named", { id: "a" }, ["a"]],
    ["is an event of the bus", event("a"), ["a"]],
    [
      "comes from a queue",
      { Records: [{ body: JSON.stringify(event("a")) }, { body: JSON.stringify(event("b")) }] },
      ["a", "b"],
    ],
    ["is nothing, of an empty batch", { Records: [] }, []],
  ])("%s", (_, given, ids) => {
    expect(detailsIn(given, Run).map(({ id }) => id)).toEqual(ids);
  });

  it.each<[string, unknown]>([
    ["something else", { name: "a" }],
    ["an event of something else", { detail: { name: "a" } }],
    ["a message that is no event", { Records: [{ body: '"a"' }] }],
    ["a message that is no JSON", { Records: [{ body: "a" }] }],
  ])("is never %s", (_, given) => {
    expect(() => detailsIn(given, Run)).toThrow();
  });
});
