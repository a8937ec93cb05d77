import type { CredentialKindName } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { checkValues } from "../../../../packages/engine/src/secrets/credentials/kinds.ts";

const email = { user: "billing@acme.test", password: "s3cret-4711", smtp_host: "smtp.acme.test" };
const oauth = { token_url: "https://id.test/token", client_id: "nova", client_secret: "s3cret-4711" };
const api = { url: "https://api.test", token: "s3cret-4711" };

describe("misfits of a credential's values are described in words", () => {
  it.each<[string, CredentialKindName, unknown, string, string]>([
    ["a field too many", "email", { ...email, hots: "h" }, "", 'this kind has no "hots" - correct or remove it'],
    ["two of them", "email", { ...email, a: 1, b: 2 }, "", 'this kind has no "a" or "b" - correct or remove it'],
    ["a name that is none", "custom", { "A b": "4711-4711" }, "A b", "must be a name such as api_key"],
    ["an empty name", "http", { ...api, headers: { "": "4711-4711" } }, "headers.", "must not be empty"],
    ["a list of headers", "http", { ...api, headers: [] }, "headers", "must be an object"],
    ["no time", "oauth2", { ...oauth, expires_at: "soon" }, "expires_at", "must be a time with its zone, such as"],
    ["a text for all", "email", "s3cret-4711", "", "must be an object"],
    ["a text for a port", "email", { ...email, smtp_port: "5544" }, "smtp_port", "must be a number, not a text"],
    ["no port", "email", { ...email, smtp_port: 0 }, "smtp_port", "must be a port, 1 to 65535"],
    ["what a schema says itself", "email", { ...email, smtp_host: 7 }, "smtp_host", "must be a text"],
  ])("%s", (_what, kind, values, path, message) => {
    const [misfit] = checkValues(kind, values).error?.issues ?? [];
    expect(misfit?.path.join(".")).toBe(path);
    expect(misfit?.message).toContain(message);
    expect(misfit?.message).not.toMatch(/Invalid|Unrecognized|s3cret/);
  });
});
