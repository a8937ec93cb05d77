import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kmsClient } from "@nova/aws";
import { afterAll, describe, expect, test } from "vitest";
import {
  createCredentialCipher,
  credentialKeysFrom,
  kmsKeys,
} from "../../../packages/aws/src/crypto/credential-cipher.ts";
import { standInForKms } from "../../support/kms.ts";

const folder = mkdtempSync(join(tmpdir(), "nova-keys-"));
afterAll(() => rmSync(folder, { recursive: true }));

const arn = "arn:aws:kms:us-east-1:000000000000:key/nova";
const asked: string[] = [];

/**
 * A fake of the KMS operations that a keyring uses. Its encrypted data keys consist of the encryption context and the
 * plain key.
 */
const kms = createServer(async (request, response) => {
  const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
  const { KeyId, EncryptionContext, CiphertextBlob } = JSON.parse(Buffer.concat(chunks).toString());
  const operation = String(request.headers["x-amz-target"]).split(".")[1] as string;
  asked.push(`${operation} ${KeyId}`);
  const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
  const lock = `${JSON.stringify(EncryptionContext)} `;
  const plain = Buffer.alloc(32, 7);
  const sealed = Buffer.concat([Buffer.from(lock), plain]).toString("base64");
  if (operation === "GenerateDataKey")
    return answer(200, { KeyId: arn, Plaintext: plain.toString("base64"), CiphertextBlob: sealed });
  if (CiphertextBlob !== sealed) return answer(400, { __type: "InvalidCiphertextException" });
  return answer(200, { KeyId: arn, Plaintext: plain.toString("base64") });
});
standInForKms(kms, kmsClient());

const keyHex = "0123456789abcdef".repeat(4);
const variables: Record<string, Record<string, string>> = {
  "a key": { NOVA_CREDENTIALS_KEY: keyHex },
  "the vault's key": { NOVA_VAULT_KEY: keyHex },
  "a key of KMS": { NOVA_CREDENTIALS_KMS_KEY: "alias/nova" },
};
const cipherOf = (names: Record<string, string>) => createCredentialCipher(credentialKeysFrom(names));
const context = { client: "acme", name: "email" };

describe.each(Object.keys(variables))("the cipher for credentials with %s", (name) => {
  const cipher = cipherOf(variables[name] as Record<string, string>);

  test("decrypts a long text that it has encrypted, and returns the name of the key", async () => {
    const text = `{"password":"grün ${"x".repeat(20_000)}"}`;
    const { sealed, key } = await cipher.seal(text, context);
    expect(key).toBe(await cipher.currentKey());
    expect(Buffer.from(sealed, "base64").toString("latin1")).not.toContain("password");
    expect(await cipher.open(sealed, context)).toBe(text);
  });

  test.each([
    ["another client", { ...context, client: "globex" }],
    ["another name", { ...context, name: "database" }],
    ["a workflow instead of the client", { workflow: "acme", name: "email" }],
    ["a missing name", { client: "acme" }],
    ["a further value", { ...context, kind: "email" }],
  ])("does not decrypt a client's credential with %s in the encryption context", async (_what, other) => {
    const { sealed } = await cipher.seal("{}", context);
    await expect(cipher.open(sealed, other)).rejects.toMatchObject({ name: "CredentialLocked" });
  });

  test("does not decrypt a ciphertext that was changed", async () => {
    const bytes = Buffer.from((await cipher.seal("{}", context)).sealed, "base64");
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    for (const changed of [bytes, Buffer.from(""), Buffer.from("hello")]) {
      await expect(cipher.open(changed.toString("base64"), context)).rejects.toMatchObject({
        name: "CredentialLocked",
      });
    }
  });
});

test("an unreachable KMS is reported as an outage, not as a wrong key for credentials", async () => {
  const { sealed } = await cipherOf(variables["a key of KMS"] as Record<string, string>).seal("{}", context);
  const down = Object.assign(new Error("internal"), { $fault: "server", $metadata: { httpStatusCode: 500 } });
  const cipher = createCredentialCipher(kmsKeys({ send: () => Promise.reject(down) } as never, arn));
  await expect(cipher.open(sealed, context)).rejects.toMatchObject({ name: "StoreUnavailable" });
  expect(new Set(asked)).toEqual(new Set(["GenerateDataKey alias/nova", `Decrypt ${arn}`]));
});

describe("the keys for credentials in a file", () => {
  const file = join(folder, "keys.json");
  const cipher = cipherOf({ NOVA_CREDENTIALS_KEY: keyHex, NOVA_CREDENTIALS_KEY_FILE: file });

  test("include the key of the environment variable until NOVA forgets old keys, so that older texts can be decrypted after a rotation", async () => {
    const first = await cipher.seal("first", context);
    await cipher.renew();
    const second = await cipher.seal("second", context);
    expect(second.key).not.toBe(first.key);
    expect(await cipher.open(first.sealed, context)).toBe("first");
    await cipher.forgetOldKeys();
    expect(await cipher.open(second.sealed, context)).toBe("second");
    await expect(cipher.open(first.sealed, context)).rejects.toMatchObject({ name: "CredentialLocked" });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("include only one new key after two rotations, and other processes also encrypt with this new key", async () => {
    await cipher.renew();
    const kept = readFileSync(file, "utf8");
    await cipher.renew();
    expect(readFileSync(file, "utf8")).toBe(kept);
    const other = cipherOf({ NOVA_CREDENTIALS_KEY: keyHex, NOVA_CREDENTIALS_KEY_FILE: file });
    expect(await other.currentKey()).toBe(await cipher.currentKey());
  });

  test.each(["{}", '{"keys":[]}', '{"keys":["short"]}'])(
    "are reported as damaged if the file contains %s",
    async (text) => {
      const bad = join(folder, "bad.json");
      writeFileSync(bad, text);
      const broken = cipherOf({ NOVA_CREDENTIALS_KEY: keyHex, NOVA_CREDENTIALS_KEY_FILE: bad });
      await expect(broken.seal("{}", context)).rejects.toThrow(/has no keys of credentials - restore it/);
    },
  );
});

test.each<[string, Record<string, string>, RegExp]>([["no key", {}, /have no key - set NOVA_CREDENTIALS_KMS_KEY/]])(
  "a cipher for credentials refuses to encrypt if the environment has %s",
  async (_what, names, reason) => {
    await expect(cipherOf(names).seal("{}", context)).rejects.toThrow(reason);
  },
);

test("an invalid key for credentials in an environment variable is refused immediately", () => {
  expect(() => credentialKeysFrom({ NOVA_CREDENTIALS_KEY: "abc" })).toThrow(/not 64 hex digits/);
});
