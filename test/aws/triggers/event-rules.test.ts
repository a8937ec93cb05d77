import type { EventRule } from "@nova/service";
import { describe, expect, it } from "vitest";
import { ruleRefused, targetRefused } from "../../../packages/aws/src/triggers.ts";

const rule: EventRule = { workflow: "report", trigger: "paid", bus: "nova", pattern: { source: ["shop"] } };
const error = (name: string) => Object.assign(new Error("EventBridge says no"), { name });

describe("a rule that EventBridge does not accept", () => {
  it.each([
    [
      "InvalidEventPatternException",
      "Refused",
      /^EventBridge refuses the pattern of trigger "paid".*: EventBridge says no/,
    ],
    ["LimitExceededException", "Refused", /no room for the rule of trigger "paid".* or ask AWS for more rules$/],
    [
      "ConcurrentModificationException",
      "StoreUnavailable",
      /was changing trigger "paid" of workflow "report" - try again$/,
    ],
    ["AccessDeniedException", "AccessDeniedException", /^EventBridge says no$/],
  ])("because of %s is reported as %s", (given, name, message) => {
    expect(ruleRefused(rule, error(given))).toMatchObject({ name, message: expect.stringMatching(message) });
  });

  it("keeps the thrown error as its cause", () => {
    const cause = error("LimitExceededException");
    expect(ruleRefused(rule, cause)).toMatchObject({ cause });
    expect(ruleRefused(rule, "no error")).toBe("no error");
  });
});

describe("a rule without its target", () => {
  it.each([
    ["ResourceNotFoundException", "Refused", /has no target \(ResourceNotFoundException: no\) - publish it again$/],
    ["ThrottlingException", "StoreUnavailable", /has no target \(ThrottlingException: no\) - try again$/],
    ["ConcurrentModificationException", "StoreUnavailable", / - try again$/],
  ])("because of %s is reported as %s", (ErrorCode, name, message) => {
    const refused = targetRefused(rule, { ErrorCode, ErrorMessage: "no" });
    expect(refused).toMatchObject({ name, message: expect.stringMatching(message) });
  });
});
