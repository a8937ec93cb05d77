import { createServer, type Server } from "node:http";
import { kmsClient } from "@nova/aws";
import type { Vault } from "@nova/engine";
import { describe, expect, test } from "vitest";
import { createKeyVault, createKmsVault } from "../../../packages/aws/src/crypto/vaults.ts";
import { standInForKms } from "../../support/kms.ts";

/** As much of KMS as the vault uses: what is sealed names key and context, and opens with the same. */
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

  test("opens what it sealed, umlauts too", async () => {
    const sealed = await vault().seal("a token, grün", context);
    expect(sealed).not.toContain("token");
    expect(await vault().open(sealed, context)).toBe("a token, grün");
  });

  test.each([
    ["for another task", { ...context, task: "task_2" }],
    ["for nothing", {}],
  ])("does not open %s what was sealed for one", async (_what, other) => {
    await expect(vault().open(await vault().seal("a token", context), other)).rejects.toThrow(/does not open/);
  });
});

test("a key seals the same text differently each time, and opens nothing that was changed", async () => {
  const vault = vaults.key?.() as Vault;
  const sealed = await vault.seal("a token", context);
  expect(await vault.seal("a token", context)).not.toBe(sealed);
  const bytes = Buffer.from(sealed, "base64");
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
  await expect(vault.open(bytes.toString("base64"), context)).rejects.toMatchObject({ name: "VaultLocked" });
  await expect(vault.open("", context)).rejects.toMatchObject({ name: "VaultLocked" });
});

test.each(["", "abc", "g".repeat(64)])("a key that is %j is refused", (bad) => {
  expect(() => createKeyVault(bad)).toThrow(/64 hex digits/);
});

test("does not take another refusal of KMS for a wrong text", async () => {
  await expect(createKmsVault(client, "alias/other").open("AAAA", context)).rejects.toThrow(/no such key/);
});
