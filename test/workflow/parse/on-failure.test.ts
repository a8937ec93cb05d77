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
  ])("with %j is parsed into %j", (on_failure, onFailure) => {
    expect(parsed({ on_failure })).toMatchObject({ findings: [], workflow: { onFailure } });
  });

  it("is absent from a workflow without it, so that its version stays", () => {
    expect(parsed({}).workflow).not.toHaveProperty("onFailure");
  });

  it.each([
    ["no address", { mail: ["ops"] }, /must be an address such as anna@example.com/],
    ["two addresses in one", { mail: ["a@b.c, d@e.f"] }, /must be an address such as/],
    ["no list", { mail: "ops@example.com" }, /mail/],
    ["nobody", { mail: [] }, /mail/],
    ["a file", { webhook: "file:///etc/passwd" }, /must be an address such as https:/],
    ["a program", { webhook: "javascript:alert(1)" }, /must be an address such as https:/],
    ["a server of files", { webhook: { url: "ftp://example.com/in" } }, /must be an address that begins with https:/],
    ["nothing", { webhook: { url: "", secret: "pager" } }, /must be an address that begins with https:/],
    ["nothing, and no name of a credential", { webhook: { url: "", secret: "**" } }, /must be an address that begins/],
    [
      "a password",
      { webhook: "https://nova:hush@example.com/in" },
      /^the workflow: on_failure\.webhook must name no user/,
    ],
    ["a user", { webhook: { url: "http://token@example.com" } }, /would lie in the clear in the table and in logs - /],
    [
      "no name of a credential",
      { webhook: { url, secret: "A B" } },
      /on_failure\.webhook\.secret must be a name such as/,
    ],
    ["another field", { slack: "#ops" }, /slack/],
  ])("with %s is an error", (_, on_failure, message) => {
    const { workflow, findings } = parsed({ on_failure });
    expect(workflow).toBeUndefined();
    const told = findings.map((finding) => finding.message).join("\n");
    expect(told).toMatch(message);
    expect(told).not.toContain("hush");
  });
});

describe("the signature of a webhook", () => {
  it("may limit the age of a request whose header has a time", () => {
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
