import { pastTimes } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { mustParse, row } from "../definition.ts";

const now = Date.parse("2026-06-30T12:00:00Z");

function found(trigger: object) {
  return pastTimes(mustParse({ ...row(), triggers: [{ type: "schedule", every: "1d" }, trigger] }), now);
}

const once = (at: string, timezone?: string) => ({ type: "schedule", at, ...(timezone && { timezone }) });

describe("a schedule that is due once", () => {
  it.each([
    ["a year ago", once("2025-06-30T12:00")],
    ["a second ago", once("2026-06-30T11:59:59")],
    ["now", once("2026-06-30T12:00")],
    ["a minute ago in Madrid", once("2026-06-30T13:59", "Europe/Madrid")],
    ["a minute ago in New York", once("2026-06-30T07:59", "America/New_York")],
  ])("warns where that was %s", (_, trigger) => {
    expect(found(trigger)).toMatchObject([{ code: "NOVA129", severity: "warning", path: "$.triggers[1].at" }]);
  });

  it.each([
    ["is in a second", once("2026-06-30T12:00:01")],
    ["is in a minute in Madrid", once("2026-06-30T14:01", "Europe/Madrid")],
    ["is in a minute in New York", once("2026-06-30T08:01", "America/New_York")],
    ["comes again", { type: "schedule", cron: "0 9 ? * MON-FRI 2020-2030" }],
    ["is no time", { type: "mail", address: "invoices" }],
  ])("does not where it %s", (_, trigger) => {
    expect(found(trigger)).toEqual([]);
  });

  it("says when it was, and the way out", () => {
    expect(found(once("2025-06-30T12:00", "Europe/Madrid"))[0]?.message).toBe(
      'trigger "schedule-2" is due at 2025-06-30T12:00:00 (Europe/Madrid), which is over - write a time to come, or remove the trigger',
    );
  });
});

describe("a workflow without triggers", () => {
  it("has no time that could be over", () => {
    expect(pastTimes(mustParse(row()), now)).toEqual([]);
  });
});
