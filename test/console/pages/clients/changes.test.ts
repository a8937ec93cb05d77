import type { Client } from "@nova/client";
import { describe, expect, it } from "vitest";
import { parseObject, Raw } from "../../../../packages/console/src/json/raw.ts";
import {
  checkQuota,
  createQuotasDraft,
  createSettingsDraft,
  diffSettings,
  parseQuotas,
} from "../../../../packages/console/src/pages/clients/changes.ts";

const client: Client = {
  slug: "acme",
  name: "Acme",
  pins: {},
  variables: {},
  quotas: {},
  mail_from: null,
  on_failure: {
    mail: ["a@acme.example.com", "b@acme.example.com"],
    webhook: { url: "https://x.example.com", secret: "s" },
  },
  created_at: "2026-11-25T10:00:00.000Z",
};

describe("a change of settings", () => {
  const draft = createSettingsDraft(client);

  it("is empty if no setting changed", () => {
    expect(diffSettings(client, draft)).toEqual({});
  });

  it("contains only changed settings, because the sender of mails needs more rights", () => {
    expect(diffSettings(client, { ...draft, name: " Acme GmbH " })).toEqual({ name: "Acme GmbH" });
  });

  it("replaces all failure receivers together, as the API requires", () => {
    expect(diffSettings(client, { ...draft, mails: "c@acme.example.com; d@acme.example.com" })).toEqual({
      on_failure: {
        mail: ["c@acme.example.com", "d@acme.example.com"],
        webhook: { url: "https://x.example.com", secret: "s" },
      },
    });
  });

  it("removes emptied settings", () => {
    expect(diffSettings(client, { ...draft, mails: "", webhook: "" })).toEqual({ on_failure: {} });
    const own = { ...client, mail_from: "us@acme.example.com" };
    expect(diffSettings(own, { ...createSettingsDraft(own), mailFrom: "" })).toEqual({ mail_from: null });
  });
});

describe("quotas", () => {
  it("remove a limit whose field is empty", () => {
    const draft = createQuotasDraft({ max_concurrent: 5, max_cost_usd: 49.9 });
    expect(parseQuotas({ ...draft, max_concurrent: " " })).toEqual({
      max_concurrent: null,
      max_cost_usd: 49.9,
      retention_days: null,
    });
  });

  it.each([
    ["max_concurrent", "5", undefined],
    ["max_concurrent", "5.5", "whole"],
    ["max_concurrent", "many", "whole"],
    ["max_cost_usd", "49.90", undefined],
    ["max_cost_usd", "49,90", "amount"],
    ["retention_days", "", undefined],
    ["retention_days", "-1", "whole"],
  ] as const)("say of %s %s: %s", (name, text, misfit) => {
    expect(checkQuota(name, text)).toBe(misfit);
  });
});

describe("variables", () => {
  it("keep all digits", () => {
    expect(parseObject(' {"limit": 850.0, "id": 12345678901234567890} ')).toEqual(
      new Raw('{"limit": 850.0, "id": 12345678901234567890}'),
    );
  });

  it.each(["[1]", "null", "{", "", '"text"'])("reject %s", (text) => {
    expect(parseObject(text)).toBeUndefined();
  });
});
