import { describe, expect, it } from "vitest";
import { parse, row } from "../definition.ts";

const parsed = (fields: object) => parse({ ...row(), ...fields });
const url = "https://pager.example.com/nova";

describe("on_failure", () => {
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

  it("is absent from the parsed workflow if the definition has none, so that the version of such a workflow does not change", () => {
    expect(parsed({}).workflow).not.toHaveProperty("onFailure");
  });

  it.each([
    ["an invalid mail address", { mail: ["ops"] }, /must be an address such as anna@example.com/],
    ["two addresses in one", { mail: ["a@b.c, d@e.f"] }, /must be an address such as/],
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
      "a password",
      { webhook: "https://nova:hush@example.com/in" },
      /^the workflow: on_failure\.webhook must name no user/,
    ],
    ["a user", { webhook: { url: "http://token@example.com" } }, /would lie in the clear in the table and in logs - /],
    [
      "an invalid name of a credential",
      { webhook: { url, secret: "A B" } },
      /on_failure\.webhook\.secret must be a name such as/,
    ],
    ["another field", { slack: "#ops" }, /slack/],
  ])("with %s has an error", (_, on_failure, message) => {
    const { workflow, findings } = parsed({ on_failure });
    expect(workflow).toBeUndefined();
    const told = findings.map((finding) => finding.message).join("\n");
    expect(told).toMatch(message);
    expect(told).not.toContain("hush");
  });
});

describe("the signature of a webhook", () => {
  it("limits the age of a request if the signature has a tolerance", () => {
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
