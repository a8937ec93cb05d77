import { dmarcPolicies } from "@nova/service";
import { describe, expect, it } from "vitest";
import type { Verdicts } from "../../../packages/service/src/mail/ses-headers.ts";
import { refusedBy } from "../../../packages/service/src/mail/verdicts.ts";

const nobodyAsks = () => Promise.reject(new RangeError("nobody asks for a policy here"));

it.each<[Verdicts, RegExp | undefined]>([
  [{}, undefined],
  [{ spam: "PASS", virus: "PASS", dmarc: "pass" }, undefined],
  [{ spam: "GRAY", virus: "PROCESSING_FAILED" }, undefined],
  [{ virus: "FAIL" }, /virus/],
  [{ spam: "FAIL" }, /spam/],
  [{ dmarc: "fail", dmarcPolicy: "none" }, undefined],
  [{ dmarc: "fail", dmarcPolicy: "quarantine" }, undefined],
  [{ dmarc: "fail", dmarcPolicy: "reject" }, /it is not from b.example: DMARC failed/],
])("verdicts %j refuse a mail: %s", async (verdicts, reason) => {
  const refused = await refusedBy(verdicts, "a@b.example", nobodyAsks);
  if (reason === undefined) expect(refused).toBeUndefined();
  else expect(refused).toMatch(reason);
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
});
