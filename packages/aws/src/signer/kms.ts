import { GenerateMacCommand, type KMSClient, VerifyMacCommand } from "@aws-sdk/client-kms";
import type { Signer } from "@nova/engine";
import { reaching } from "../clients/outage.ts";

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
      try {
        return (await reaching("KMS", () => client.send(command))).MacValid === true;
      } catch (error) {
        if (error instanceof Error && error.name === "KMSInvalidMacException") return false;
        throw error;
      }
    },
  };
}
