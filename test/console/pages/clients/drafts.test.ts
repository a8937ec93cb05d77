import type { Client } from "@nova/client";
import { checkValues, credentialKindNames } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { parseObject, Raw } from "../../../../packages/console/src/json/raw.ts";
import {
  buildValues,
  type CredentialDraft,
  checkField,
  checkPair,
  checkQuota,
  createQuotasDraft,
  createSettingsDraft,
  diffSettings,
  isValidDraft,
  type Kind,
  kinds,
  parseQuotas,
} from "../../../../packages/console/src/pages/clients/drafts.ts";

const samples: Record<string, string> = {
  user: "mo",
  name: "books",
  host: "db.example.com",
  sslmode: "require",
  scope: "read",
  client_id: "nova",
  smtp_host: "smtp.example.com",
  imap_host: "imap.example.com",
  expires_at: "2027-01-31T09:30:00Z",
};

/** Fills every field of a kind. */
function fillDraft(kind: Kind): CredentialDraft {
  const texts = kinds[kind].map(({ name, type }) => {
    const byType = { secret: "s3cret!", port: "1234", url: "https://api.example.com", text: "x", pairs: "" };
    return [name, samples[name] ?? byType[type]];
  });
  return { texts: Object.fromEntries(texts), pairs: [{ name: "api_key", value: "line 1\nline 2" }] };
}

it("the console has a form for every kind of credential", () => {
  expect(Object.keys(kinds).sort()).toEqual([...credentialKindNames].sort());
});

describe.each(credentialKindNames)("the console's form for a credential of the kind %s", (kind) => {
  it("sends valid values with every field of the kind", () => {
    const values = buildValues(kind, fillDraft(kind));
    expect(checkValues(kind, values)).toMatchObject({ success: true });
    if (kind !== "custom") expect(Object.keys(values)).toEqual(kinds[kind].map(({ name }) => name));
  });

  it("can be sent with only the required fields", () => {
    const { texts, pairs } = fillDraft(kind);
    const needed = kinds[kind].flatMap(({ name, isOptional }) => (isOptional ? [] : [[name, texts[name] ?? ""]]));
    // Credentials of two kinds also need one of several optional fields. Only the server checks this rule.
    const one: Partial<Record<Kind, object>> = { email: { imap_host: "imap.example.com" }, http: { token: "s3cret!" } };
    const draft = { texts: { ...Object.fromEntries(needed), ...one[kind] }, pairs: kind === "custom" ? pairs : [] };
    expect(checkValues(kind, buildValues(kind, draft))).toMatchObject({ success: true });
  });
});

it("the console's form for a credential keeps spaces around a value, because they may belong to a password", () => {
  const draft = { texts: { user: "mo", password: " pass word " }, pairs: [] };
  expect(buildValues("email", draft)).toEqual({ user: "mo", password: " pass word " });
});

describe("the console's check of a credential", () => {
  const field = (name: string) => kinds.email.find((one) => one.name === name) as (typeof kinds.email)[number];

  it.each([
    ["password", "12345", "short"],
    ["password", "123456", undefined],
    ["password", "", undefined],
    ["smtp_port", "0", "port"],
    ["smtp_port", "65536", "port"],
    ["smtp_port", "5 87", "port"],
    ["smtp_port", "587", undefined],
  ])("finds the same problem as the server in the field %s with the value %j: %s", (name, value, problem) => {
    expect(checkField(field(name), value)).toBe(problem);
  });

  it.each([
    [[{ name: "Api", value: "123456" }], "field"],
    [[{ name: "api", value: "12345" }], "short"],
    [
      [
        { name: "api", value: "123456" },
        { name: "api", value: "abcdef" },
      ],
      "twice",
    ],
    [[{ name: "api", value: "123456" }], undefined],
    [[{ name: "", value: "" }], undefined],
  ])("finds the same problem as the server in the custom fields %j: %s", (pairs, problem) => {
    expect(checkPair("custom", pairs, 0)).toBe(problem);
    expect(isValidDraft("custom", { texts: {}, pairs })).toBe(problem === undefined);
  });

  it("accepts capitals in the name of a header", () => {
    expect(checkPair("http", [{ name: "X-Api-Key", value: "123456" }], 0)).toBeUndefined();
  });
});

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

describe("the change of a client's settings that the console sends", () => {
  const draft = createSettingsDraft(client);

  it("is empty if no setting changed", () => {
    expect(diffSettings(client, draft)).toEqual({});
  });

  it("contains only changed settings, because a change of the sender of mails needs more rights", () => {
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

  it("removes each setting whose field the user has emptied", () => {
    expect(diffSettings(client, { ...draft, mails: "", webhook: "" })).toEqual({ on_failure: {} });
    const own = { ...client, mail_from: "us@acme.example.com" };
    expect(diffSettings(own, { ...createSettingsDraft(own), mailFrom: "" })).toEqual({ mail_from: null });
  });
});

describe("quotas that the console sends", () => {
  it("are null for an empty field, which means no limit", () => {
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
  ] as const)("are checked before they are sent: the problem of %s with the value %j is %s", (name, text, misfit) => {
    expect(checkQuota(name, text)).toBe(misfit);
  });
});

describe("the variables of a client in the console's form", () => {
  it("keep all digits of their numbers", () => {
    expect(parseObject(' {"limit": 850.0, "id": 12345678901234567890} ')).toEqual(
      new Raw('{"limit": 850.0, "id": 12345678901234567890}'),
    );
  });

  it.each(["[1]", "null", "{", "", '"text"'])("are refused if they are %s", (text) => {
    expect(parseObject(text)).toBeUndefined();
  });
});
