import { createHmac, timingSafeEqual } from "node:crypto";
import { GenerateMacCommand, type KMSClient, VerifyMacCommand } from "@aws-sdk/client-kms";
import type { Signer } from "@nova/engine";
import { reaching, unless } from "../clients/outage.ts";
import { keyFromHex } from "./vaults.ts";

/** HMAC-SHA-256 with a key that is at hand: `keyHex` is 32 bytes in hex. Signatures are base64, as those of KMS. */
export function createKeySigner(keyHex: string): Signer {
  const key = keyFromHex(keyHex, "the signing key");
  const mac = (text: string) => createHmac("sha256", key).update(text).digest();
  return {
    sign: async (text) => mac(text).toString("base64"),
    async verify(text, signature) {
      const [expected, given] = [mac(text), Buffer.from(signature, "base64")];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

/** HMAC-SHA-256 with a key that never leaves KMS. */
export function createKmsSigner(client: KMSClient, keyId: string): Signer {
  const request = (text: string) => ({
    KeyId: keyId,
    MacAlgorithm: "HMAC_SHA_256" as const,
    Message: Buffer.from(text),
  });
  return {
    async sign(text) {
      const { Mac } = await reaching("KMS", () => client.send(new GenerateMacCommand(request(text))));
      return Buffer.from(Mac ?? []).toString("base64");
    },
    async verify(text, signature) {
      const command = new VerifyMacCommand({ ...request(text), Mac: Buffer.from(signature, "base64") });
      const answer = await unless(["KMSInvalidMacException"], null, () => reaching("KMS", () => client.send(command)));
      return answer?.MacValid === true;
    },
  };
}
