import { DecryptCommand, EncryptCommand, type KMSClient } from "@aws-sdk/client-kms";
import type { Vault } from "@nova/engine";
import { reaching } from "../clients/outage.ts";
import { VaultLocked } from "./locked.ts";

/** Encrypt and Decrypt with a key that never leaves KMS; the context is KMS's encryption context. */
export function createKmsVault(client: KMSClient, KeyId: string): Vault {
  return {
    async seal(text, EncryptionContext) {
      const command = new EncryptCommand({ KeyId, EncryptionContext, Plaintext: Buffer.from(text) });
      const { CiphertextBlob } = await reaching("KMS", () => client.send(command));
      return Buffer.from(CiphertextBlob ?? []).toString("base64");
    },
    async open(sealed, EncryptionContext) {
      const CiphertextBlob = Buffer.from(sealed, "base64");
      const command = new DecryptCommand({ KeyId, EncryptionContext, CiphertextBlob });
      try {
        const { Plaintext } = await reaching("KMS", () => client.send(command));
        return Buffer.from(Plaintext ?? []).toString("utf8");
      } catch (cause) {
        if (cause instanceof Error && cause.name === "InvalidCiphertextException") throw new VaultLocked({ cause });
        throw cause;
      }
    },
  };
}
