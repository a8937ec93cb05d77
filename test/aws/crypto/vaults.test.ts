import { createServer, type Server } from "node:http";
import { kmsClient } from "@nova/aws";
import type { Vault } from "@nova/engine";
import { describe, expect, test } from "vitest";
import { createKeyVault, createKmsVault } from "../../../packages/aws/src/crypto/vaults.ts";
import { standInForKms } from "../../support/kms.ts";

/** The part of KMS that the vault uses. A ciphertext names its key and context, which decryption compares. */
function openKms(): Server {
  return createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
    const { KeyId, EncryptionContext, Plaintext, CiphertextBlob } = JSON.parse(Buffer.concat(chunks).toString());
    const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    const lock = `${KeyId} ${JSON.stringify(EncryptionContext)} `;
    if (KeyId !== "alias/nova") return answer(400, { __type: "NotFoundException", message: "no such key" });
    if (request.headers["x-amz-target"] === "TrentService.Encrypt")
      return answer(200, { CiphertextBlob: Buffer.from(lock + Plaintext).toString("base64") });
    const text = Buffer.from(CiphertextBlob, "base64").toString();
    if (!text.startsWith(lock)) return answer(400, { __type: "InvalidCiphertextException" });
    return answer(200, { Plaintext: text.slice(lock.length) });
  });
}

const kms = openKms();
const client = kmsClient();
const vaults: Record<string, () => Vault> = {
  key: () => createKeyVault("0123456789abcdef".repeat(4)),
  kms: () => createKmsVault(client, "alias/nova"),
};
const context = { execution: "exec_1", task: "task_1" };

standInForKms(kms, client);

describe.each(Object.keys(vaults))("the vault with a %s", (name) => {
  const vault = () => vaults[name]?.() as Vault;

  test("decrypts the texts that it encrypted, including umlauts", async () => {
    const sealed = await vault().seal("a token, grün", context);
    expect(sealed).not.toContain("token");
    expect(await vault().open(sealed, context)).toBe("a token, grün");
  });

  test.each([
    ["for another task", { ...context, task: "task_2" }],
    ["for nothing", {}],
  ])("does not decrypt %s a text that was encrypted for one task", async (_what, other) => {
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

test("a KMS vault reports other errors of KMS instead of a wrong text", async () => {
  await expect(createKmsVault(client, "alias/other").open("AAAA", context)).rejects.toThrow(/no such key/);
});
