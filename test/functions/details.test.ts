import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

const warned: unknown[][] = [];
vi.mock("../../functions/app.ts", () => ({ logger: { warn: (...line: unknown[]) => void warned.push(line) } }));

const { answerOf, detailsIn } = await import("../../functions/details.ts");

beforeEach(() => {
  warned.length = 0;
});

const delivery = { id: "dlv_1", execution: null, reason: "nobody has this address", from: "ada@example.com" };

describe("the answer about a delivery", () => {
  it.each(["refused", "failed"])("comes with a log line for a metric if the status is %s", (status) => {
    answerOf({ ...delivery, status });
    expect(warned).toEqual([["delivery refused", { delivery: "dlv_1", status }]]);
  });

  it.each(["started", "accepted", "ignored"])("comes without a log line if the status is %s", (status) => {
    answerOf({ ...delivery, status });
    expect(warned).toEqual([]);
  });

  it("contains no sender, and its log line contains no reason, because a reason can quote the received data", () => {
    const answer = answerOf({ ...delivery, status: "refused" });
    expect(answer).toEqual({ id: "dlv_1", status: "refused", execution: null, reason: "nobody has this address" });
    expect(JSON.stringify(answer)).not.toContain("ada");
    expect(JSON.stringify(warned)).not.toContain("nobody");
  });

  it("has no id if the delivery was not recorded", () => {
    expect(answerOf({ status: "ignored", execution: null, reason: "no such trigger" })).not.toHaveProperty("id");
  });
});

const Run = z.object({ id: z.string() });
const event = (id: string) => ({ source: "nova", detail: { id } });

describe("the detail with which a Lambda function is invoked", () => {
  it.each<[string, unknown, string[]]>([
    ["can be in the event itself", { id: "a" }, ["a"]],
    ["can be in an event of the bus", event("a"), ["a"]],
    [
      "can be in the messages of a queue",
      { Records: [{ body: JSON.stringify(event("a")) }, { body: JSON.stringify(event("b")) }] },
      ["a", "b"],
    ],
    ["is missing in an empty batch", { Records: [] }, []],
  ])("depends on the form of the event: it %s", (_, given, ids) => {
    expect(detailsIn(given, Run).map(({ id }) => id)).toEqual(ids);
  });

  it.each<[string, unknown]>([
    ["another object", { name: "a" }],
    ["an event with another detail", { detail: { name: "a" } }],
    ["a message that is not an event", { Records: [{ body: '"a"' }] }],
    ["a message that is not JSON", { Records: [{ body: "a" }] }],
  ])("is refused if it is %s", (_, given) => {
    expect(() => detailsIn(given, Run)).toThrow();
  });
});
