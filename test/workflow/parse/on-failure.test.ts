import { describe, expect, it } from "vitest";
import { parse, row } from "../definition.ts";

const parsed = (fields: object) => parse({ ...row(), ...fields });
const url = "https://pager.example.com/nova";

describe("the field `on_failure`", () => {
  it.each([
    [{ mail: ["ops@example.com"] }, { mail: ["ops@example.com"] }],
    [{ webhook: url }, { webhook: { url } }],
    [{ webhook: { url, secret: "pager" } }, { webhook: { url, secret: "pager" } }],
    [
      { mail: ["a@b.c"], webhook: { url } },
      { mail: ["a@b.c"], webhook: { url } },
    ],
    [{}, {}],
  ])("written as %j is parsed into %j", (on_failure, onFailure) => {
    expect(parsed({ on_failure })).toMatchObject({ findings: [], workflow: { onFailure } });
  });

  it("is absent from the parsed workflow if the definition does not have it, so that older versions do not change", () => {
    expect(parsed({}).workflow).not.toHaveProperty("onFailure");
  });

  it.each([
    ["an invalid mail address", { mail: ["ops"] }, /must be an address in ASCII such as anna@example.com/],
    ["two addresses in one", { mail: ["a@b.c, d@e.f"] }, /must be an address in ASCII such as/],
    ["an address that looks like another address", { mail: ["\u043Eps@example.com"] }, /must be an address in ASCII/],
    ["a text instead of a list", { mail: "ops@example.com" }, /mail/],
    ["an empty list", { mail: [] }, /mail/],
    ["a file URL", { webhook: "file:///etc/passwd" }, /must be an address such as https:/],
    ["a javascript URL", { webhook: "javascript:alert(1)" }, /must be an address such as https:/],
    ["an FTP address", { webhook: { url: "ftp://example.com/in" } }, /must be an address that begins with https:/],
    ["an empty address", { webhook: { url: "", secret: "pager" } }, /must be an address that begins with https:/],
    [
      "an empty address and an invalid name of a credential",
      { webhook: { url: "", secret: "**" } },
      /must be an address that begins/,
    ],
    [
      "a password in the URL",
      { webhook: "https://nova:hush@example.com/in" },
      /^the workflow: on_failure\.webhook must name no user/,
    ],
    [
      "a user name in the URL",
      { webhook: { url: "http://token@example.com" } },
      /would lie in the clear in the table and in logs - /,
    ],
    [
      "an invalid name of a credential",
      { webhook: { url, secret: "A B" } },
      /on_failure\.webhook\.secret must be a name such as/,
    ],
    ["an unknown field", { slack: "#ops" }, /slack/],
  ])("with %s causes an error", (_, on_failure, message) => {
    const { workflow, findings } = parsed({ on_failure });
    expect(workflow).toBeUndefined();
    const told = findings.map((finding) => finding.message).join("\n");
    expect(told).toMatch(message);
    expect(told).not.toContain("hush");
  });
});

describe("the signature of a webhook trigger", () => {
  it("limits the age of a request if the trigger declares a tolerance", () => {
    const signature = { header: "Stripe-Signature", secret: "stripe", tolerance: "5m" };
    const { workflow } = parsed({ triggers: [{ type: "webhook", id: "stripe", signature }] });
    expect(workflow?.triggers).toEqual([
      {
        type: "webhook",
        id: "stripe",
        signature: { header: "stripe-signature", secret: "stripe", algorithm: "sha256", toleranceSeconds: 300 },
      },
    ]);
  });
});
