import { authenticate, demandRole, Forbidden, hasRole, reaches, roles, Unauthenticated } from "@nova/service";
import { describe, expect, it } from "vitest";
import {
  digestOf,
  isDigestOf,
  keyText,
  newSecret,
  readKeyText,
} from "../../../packages/service/src/access/authenticate.ts";

const id = `key_${"01M80YJAR8RA1ESRW03H0659XA"}`;

describe("the text of an API key", () => {
  it("holds the id of the key and 256 random bits", () => {
    const [one, other] = [newSecret(), newSecret()];
    expect(Buffer.from(one, "base64url")).toHaveLength(32);
    expect(one).not.toBe(other);
    expect(readKeyText(keyText({ id, secret: one }))).toEqual({ id, secret: one });
  });

  it.each(["", "nova_", "nova_x_y", `${id}_${"a".repeat(43)}`, ` nova_${id.slice(4)}_${"a".repeat(43)}`])(
    "cannot be %j",
    (text) => {
      expect(readKeyText(text)).toBeUndefined();
    },
  );

  it("has a secret that matches only the digest that NOVA stores for this key", () => {
    const secret = newSecret();
    expect(isDigestOf(secret, digestOf(secret))).toBe(true);
    expect(isDigestOf(newSecret(), digestOf(secret))).toBe(false);
  });
});

describe("a caller of the API", () => {
  const secret = newSecret();
  const key = {
    format: 1 as const,
    id,
    role: "runner" as const,
    client: "acme",
    name: "till",
    digest: digestOf(secret),
    createdAt: "2026-01-01T00:00:00.000Z",
    createdBy: null,
  };
  const asked: string[] = [];
  const keys = {
    async get(wanted: string) {
      asked.push(wanted);
      return wanted === id ? key : undefined;
    },
  };
  const known = (text: string | undefined) => authenticate({ keys: keys as never }, text);

  it("is identified by its API key, and the returned identity does not contain the digest of that key", async () => {
    expect(await known(keyText({ id, secret }))).toEqual({ id, role: "runner", client: "acme", name: "till" });
  });

  it.each([
    ["without a key", undefined],
    ["with a text that is no key of NOVA", "secret"],
    ["with a wrong secret", keyText({ id, secret: newSecret() })],
    ["with an unknown id", keyText({ id: `key_${"0".repeat(26)}`, secret })],
  ])("%s gets the same error message as every refused caller", async (_what, text) => {
    await expect(known(text)).rejects.toThrow(Unauthenticated);
    await expect(known(text)).rejects.toThrow(/^no valid API key came with the request - send one/);
  });

  it("has the rights of its role and of all lower roles", () => {
    for (const [own, role] of roles.entries())
      for (const [least, other] of roles.entries()) expect(hasRole({ role }, other)).toBe(own >= least);
  });

  it("whose role is too low gets an error that names the required role", () => {
    const runner = { id, role: "runner", client: null, name: "" } as const;
    expect(() => demandRole(runner, "editor")).toThrow(Forbidden);
    expect(() => demandRole(runner, "editor")).toThrow(/needs the role editor, the key has runner/);
  });

  it.each([
    [null, "acme", true],
    [null, null, true],
    ["acme", "acme", true],
    ["acme", "globex", false],
    ["acme", null, false],
  ])("with an API key for the client %j may use the data of the client %j: %j", (client, other, within) => {
    expect(reaches({ client }, other)).toBe(within);
  });
});
