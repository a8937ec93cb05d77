import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Vault } from "@nova/engine";
import { VaultLocked } from "./locked.ts";

const cipher = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/** AES-256-GCM with a key that is at hand: `keyHex` is 32 bytes in hex. Sealed: IV, tag and text in base64. */
export function createKeyVault(keyHex: string): Vault {
  if (!/^[0-9a-f]{64}$/i.test(keyHex)) {
    throw new VaultKeyInvalid("the key of the vault is not 64 hex digits - make one with `openssl rand -hex 32`");
  }
  const key = Buffer.from(keyHex, "hex");
  return {
    async seal(text, context) {
      const iv = randomBytes(ivBytes);
      const sealing = createCipheriv(cipher, key, iv).setAAD(boundTo(context));
      const body = Buffer.concat([sealing.update(text, "utf8"), sealing.final()]);
      return Buffer.concat([iv, sealing.getAuthTag(), body]).toString("base64");
    },
    async open(sealed, context) {
      const bytes = Buffer.from(sealed, "base64");
      const [iv, tag] = [bytes.subarray(0, ivBytes), bytes.subarray(ivBytes, ivBytes + tagBytes)];
      try {
        const opening = createDecipheriv(cipher, key, iv, { authTagLength: tagBytes }).setAAD(boundTo(context));
        opening.setAuthTag(tag);
        return opening.update(bytes.subarray(ivBytes + tagBytes), undefined, "utf8") + opening.final("utf8");
      } catch (cause) {
        throw new VaultLocked({ cause });
      }
    },
  };
}

export class VaultKeyInvalid extends Error {
  override name = "VaultKeyInvalid";
}

/** The same bytes for the same context, in whatever order it was written. */
function boundTo(context: Record<string, string>): Buffer {
  return Buffer.from(JSON.stringify(Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1))));
}
