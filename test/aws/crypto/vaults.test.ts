import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { createKeySigner, createKmsSigner, kmsClient } from "@nova/aws";
import type { Signer, Vault } from "@nova/engine";
import { describe, expect, test } from "vitest";
import { createKeyVault, createKmsVault } from "../../../packages/aws/src/crypto/vaults.ts";
import { standInForKms } from "../../support/kms.ts";

const keyHex = "0123456789abcdef".repeat(4);
const hmac = (text: string | Buffer) => createHmac("sha256", Buffer.from(keyHex, "hex")).update(text).digest("base64");

/**
 * A fake of the KMS operations that vaults and signers use. A ciphertext names its key and its context, and decryption
 * compares both.
 */
const kms = createServer(async (request, response) => {
  const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
  const asked = JSON.parse(Buffer.concat(chunks).toString());
  const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
  const operation = String(request.headers["x-amz-target"]).replace("TrentService.", "");
  if (asked.KeyId !== "alias/nova") return answer(400, { __type: "NotFoundException", message: "no such key" });
  const lock = `${asked.KeyId} ${JSON.stringify(asked.EncryptionContext)} `;
  if (operation === "Encrypt")
    return answer(200, { CiphertextBlob: Buffer.from(lock + asked.Plaintext).toString("base64") });
  if (operation === "Decrypt") {
    const text = Buffer.from(asked.CiphertextBlob, "base64").toString();
    if (!text.startsWith(lock)) return answer(400, { __type: "InvalidCiphertextException" });
    return answer(200, { Plaintext: text.slice(lock.length) });
  }
  if (asked.MacAlgorithm !== "HMAC_SHA_256") return answer(400, { __type: "ValidationException" });
  const mac = hmac(Buffer.from(asked.Message, "base64"));
  if (operation === "GenerateMac") return answer(200, { Mac: mac });
  if (asked.Mac === mac) return answer(200, { MacValid: true });
  return answer(400, { __type: "KMSInvalidMacException" });
});

const client = kmsClient();
const vaults: Record<string, () => Vault> = {
  key: () => createKeyVault(keyHex),
  kms: () => createKmsVault(client, "alias/nova"),
};
const context = { execution: "exec_1", task: "task_1" };

standInForKms(kms, client);

describe.each(Object.keys(vaults))("the vault for task tokens with a %s", (name) => {
  const vault = () => vaults[name]?.() as Vault;

  test("decrypts the texts that it encrypted, including umlauts", async () => {
    const sealed = await vault().seal("a token, grün", context);
    expect(sealed).not.toContain("token");
    expect(await vault().open(sealed, context)).toBe("a token, grün");
  });

  test.each([
    ["for another task of a run", { ...context, task: "task_2" }],
    ["without any task", {}],
  ])("does not decrypt the text of a task with a context %s", async (_what, other) => {
    await expect(vault().open(await vault().seal("a token", context), other)).rejects.toThrow(/does not open/);
  });
});

test("a key vault encrypts the same text differently each time, and does not decrypt a changed text", async () => {
  const vault = vaults.key?.() as Vault;
  const sealed = await vault.seal("a token", context);
  expect(await vault.seal("a token", context)).not.toBe(sealed);
  const bytes = Buffer.from(sealed, "base64");
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
  await expect(vault.open(bytes.toString("base64"), context)).rejects.toMatchObject({ name: "VaultLocked" });
  await expect(vault.open("", context)).rejects.toMatchObject({ name: "VaultLocked" });
});

test.each(["", "abc", "g".repeat(64)])("a key vault refuses the key %j", (bad) => {
  expect(() => createKeyVault(bad)).toThrow(/64 hex digits/);
});

test("a KMS vault throws an unexpected error of KMS unchanged", async () => {
  await expect(createKmsVault(client, "alias/other").open("AAAA", context)).rejects.toThrow(/no such key/);
});

const signers: Record<string, () => Signer> = {
  key: () => createKeySigner(keyHex),
  kms: () => createKmsSigner(client, "alias/nova"),
};

describe.each(Object.keys(signers))("the signer of entries with a %s", (name) => {
  const text = "a".repeat(64);

  test("signs a text deterministically, as HMAC-SHA-256 in base64", async () => {
    expect(await signers[name]?.().sign(text)).toBe(hmac(text));
  });

  test("accepts its own signature and refuses other signatures", async () => {
    const signer = signers[name]?.() as Signer;
    const signature = await signer.sign(text);
    expect(await signer.verify(text, signature)).toBe(true);
    expect(await signer.verify(`${text}b`, signature)).toBe(false);
    expect(await signer.verify(text, "AAAA")).toBe(false);
    expect(await signer.verify(text, "")).toBe(false);
  });
});

test.each(["", "abc", "g".repeat(64), keyHex.slice(2)])("a signer refuses the key %j", (bad) => {
  expect(() => createKeySigner(bad)).toThrow(/64 hex digits/);
});

test("a KMS signer throws an unexpected error of KMS unchanged", async () => {
  await expect(createKmsSigner(client, "alias/other").verify("a", "AAAA")).rejects.toThrow(/no such key/);
});
