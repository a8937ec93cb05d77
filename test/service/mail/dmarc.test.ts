import { dmarcPolicies } from "@nova/service/adapters";
import { describe, expect, it } from "vitest";
import { verdictProblem } from "../../../packages/service/src/mail/receive.ts";
import type { Verdicts } from "../../../packages/service/src/mail/ses-headers.ts";

const asksTo = (policy: "none" | "quarantine" | "reject") => async () => policy;

describe("the findings of SES", () => {
  it.each<[Verdicts, "none" | "quarantine" | "reject", RegExp | undefined]>([
    [{}, "none", undefined],
    [{}, "quarantine", undefined],
    [{}, "reject", /not proven to be from b.example \(DMARC\)/],
    [{ provenDomain: "b.example" }, "reject", undefined],
    [{ provenDomain: "mail.b.example" }, "reject", /not proven/],
    [{ spam: "GRAY", virus: "PROCESSING_FAILED" }, "none", undefined],
    [{ virus: "FAIL", provenDomain: "b.example" }, "none", /virus/],
    [{ spam: "FAIL", provenDomain: "b.example" }, "none", /spam/],
  ])("refuse a mail: findings %j, policy %s, reason %s", async (verdicts, policy, reason) => {
    const refused = await verdictProblem(verdicts, "a@b.example", asksTo(policy));
    if (reason === undefined) expect(refused).toBeUndefined();
    else expect(refused).toMatch(reason);
  });

  it("refuse a mail without a sender before any policy is read", async () => {
    const neverCalled = () => Promise.reject(new RangeError("unexpected read of a policy"));
    expect(await verdictProblem({ provenDomain: "" }, "", neverCalled)).toMatch(/exactly one sender/);
  });
});

describe("the DMARC policy", () => {
  const missing = Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
  const records: Record<string, string[][] | Error> = {
    "_dmarc.a.example": [["v=spf1 -all"], ["v=DMARC1; p=", "reject; sp=none"]],
    "_dmarc.b.example": [["v=DMARC1;P=Quarantine"]],
    "_dmarc.c.example": [["v=DMARC1; rua=mailto:x@y"]],
    "_dmarc.d.example": new Error("the server does not answer"),
    "_dmarc.e.example": Object.assign(new Error("no TXT"), { code: "ENODATA" }),
  };
  const policyOf = dmarcPolicies(async (name) => {
    const found = records[name] ?? missing;
    if (found instanceof Error) throw found;
    return found;
  });

  it.each([
    ["a.example", "reject"],
    ["mail.a.example", "none"],
    ["deep.mail.b.example", "quarantine"],
    ["c.example", "none"],
    ["d.example", "reject"],
    ["e.example", "none"],
    ["unknown.example", "none"],
    ["localhost", "none"],
    ["", "none"],
  ])("of %j is %s", async (domain, expected) => {
    expect(await policyOf(domain)).toBe(expected);
  });

  it("is searched under at most eight names, however long the sender's name is", async () => {
    const asked: string[] = [];
    const policy = await dmarcPolicies(async (name) => {
      asked.push(name);
      throw missing;
    })(`${"a.".repeat(100)}b.c.d.e.f.g.example`);
    expect([policy, asked.length, asked[1]]).toEqual(["none", 7, "_dmarc.b.c.d.e.f.g.example"]);
  });
});
