import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import { createKeySigner, createKmsSigner, kmsClient } from "@nova/aws";
import type { Signer } from "@nova/engine";
import { describe, expect, test } from "vitest";
import { standInForKms } from "../../support/kms.ts";

const keyHex = "0123456789abcdef".repeat(4);

/** The part of KMS that the signer uses; other requests fail. */
function openKms(): Server {
  return createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
    const { KeyId, MacAlgorithm, Message, Mac } = JSON.parse(Buffer.concat(chunks).toString());
    const mac = createHmac("sha256", Buffer.from(keyHex, "hex"))
      .update(Buffer.from(Message, "base64"))
      .digest("base64");
    const operation = request.headers["x-amz-target"];
    const isFit = KeyId === "alias/nova" && MacAlgorithm === "HMAC_SHA_256";
    const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    if (isFit && operation === "TrentService.GenerateMac") answer(200, { KeyId, MacAlgorithm, Mac: mac });
    else if (isFit && operation === "TrentService.VerifyMac" && Mac === mac) answer(200, { KeyId, MacValid: true });
    else if (isFit && operation === "TrentService.VerifyMac") answer(400, { __type: "KMSInvalidMacException" });
    else answer(400, { __type: "ValidationException", message: `unexpected ${operation}` });
  });
}

const kms = openKms();
const client = kmsClient();
const signers: Record<string, () => Signer> = {
  key: () => createKeySigner(keyHex),
  kms: () => createKmsSigner(client, "alias/nova"),
};

standInForKms(kms, client);

describe.each(Object.keys(signers))("the signer with a %s", (name) => {
  const text = "a".repeat(64);

  test("signs a text deterministically, as HMAC-SHA-256 in base64", async () => {
    const expected = createHmac("sha256", Buffer.from(keyHex, "hex")).update(text).digest("base64");
    expect(await signers[name]?.().sign(text)).toBe(expected);
  });

  test("accepts its own signature and refuses others", async () => {
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

test("a signer reports other errors of KMS instead of a wrong signature", async () => {
  await expect(createKmsSigner(client, "alias/other").verify("a", "AAAA")).rejects.toThrow(/unexpected/);
});
