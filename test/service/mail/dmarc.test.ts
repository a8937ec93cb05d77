import { dmarcPolicies } from "@nova/service/adapters";
import { describe, expect, it } from "vitest";
import { refusedBy } from "../../../packages/service/src/mail/receive.ts";
import type { Verdicts } from "../../../packages/service/src/mail/ses-headers.ts";

const asksTo = (policy: "none" | "quarantine" | "reject") => async () => policy;

it.each<[Verdicts, "none" | "quarantine" | "reject", RegExp | undefined]>([
  [{}, "none", undefined],
  [{}, "quarantine", undefined],
  [{}, "reject", /not proven to be from b.example \(DMARC\)/],
  [{ provenDomain: "b.example" }, "reject", undefined],
  [{ provenDomain: "mail.b.example" }, "reject", /not proven/],
  [{ spam: "GRAY", virus: "PROCESSING_FAILED" }, "none", undefined],
  [{ virus: "FAIL", provenDomain: "b.example" }, "none", /virus/],
  [{ spam: "FAIL", provenDomain: "b.example" }, "none", /spam/],
])("verdicts %j where the domain asks to %s refuse a mail: %s", async (verdicts, policy, reason) => {
  const refused = await refusedBy(verdicts, "a@b.example", asksTo(policy));
  if (reason === undefined) expect(refused).toBeUndefined();
  else expect(refused).toMatch(reason);
});

it("refuses a mail that names no sender, and asks nobody for a policy", async () => {
  const nobodyAsks = () => Promise.reject(new RangeError("nobody asks for a policy here"));
  expect(await refusedBy({ provenDomain: "" }, "", nobodyAsks)).toMatch(/exactly one sender/);
});

describe("what a domain asks for", () => {
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
  ])("%j asks to: %s", async (domain, expected) => {
    expect(await policyOf(domain)).toBe(expected);
  });

  it("is asked of eight names at most, however long the sender's is", async () => {
    const asked: string[] = [];
    const policy = await dmarcPolicies(async (name) => {
      asked.push(name);
      throw missing;
    })(`${"a.".repeat(100)}b.c.d.e.f.g.example`);
    expect([policy, asked.length, asked[1]]).toEqual(["none", 7, "_dmarc.b.c.d.e.f.g.example"]);
  });
});
