import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import * as kms from "@aws-sdk/client-kms";
import type { Signer, Vault } from "@nova/engine";
import { orOnError, reportOutage } from "../clients/outage.ts";

const cipher = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/**
 * Creates a vault that encrypts with AES-256-GCM. `keyHex` is a key of 32 bytes in hex. A sealed text is the base64 of
 * IV, tag and ciphertext.
 */
export function createKeyVault(keyHex: string): Vault {
  const key = keyFromHex(keyHex, "the key of the vault");
  return {
    async seal(text, context) {
      const iv = randomBytes(ivBytes);
      const sealing = createCipheriv(cipher, key, iv).setAAD(authenticatedContext(context));
      const body = Buffer.concat([sealing.update(text, "utf8"), sealing.final()]);
      return Buffer.concat([iv, sealing.getAuthTag(), body]).toString("base64");
    },
    async open(sealed, context) {
      const bytes = Buffer.from(sealed, "base64");
      const [iv, tag] = [bytes.subarray(0, ivBytes), bytes.subarray(ivBytes, ivBytes + tagBytes)];
      try {
        const opening = createDecipheriv(cipher, key, iv, { authTagLength: tagBytes }).setAAD(
          authenticatedContext(context),
        );
        opening.setAuthTag(tag);
        return opening.update(bytes.subarray(ivBytes + tagBytes), undefined, "utf8") + opening.final("utf8");
      } catch (cause) {
        throw new VaultLocked({ cause });
      }
    },
  };
}

/** Parses a key of 32 bytes; `what` names the key in the error. */
export function keyFromHex(keyHex: string, what: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(keyHex)) return Buffer.from(keyHex, "hex");
  throw new Error(`${what} is not 64 hex digits - make one with \`openssl rand -hex 32\``);
}

/** Serialises a context independently of the order of its keys. */
function authenticatedContext(context: Record<string, string>): Buffer {
  return Buffer.from(JSON.stringify(Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/**
 * Creates a vault that encrypts with a key that never leaves KMS. The context of a text is KMS's encryption context.
 */
export function createKmsVault(client: kms.KMSClient, KeyId: string): Vault {
  return {
    async seal(text, EncryptionContext) {
      const command = new kms.EncryptCommand({ KeyId, EncryptionContext, Plaintext: Buffer.from(text) });
      const { CiphertextBlob } = await reportOutage("KMS", () => client.send(command));
      return Buffer.from(CiphertextBlob ?? []).toString("base64");
    },
    async open(sealed, EncryptionContext) {
      const CiphertextBlob = Buffer.from(sealed, "base64");
      const command = new kms.DecryptCommand({ KeyId, EncryptionContext, CiphertextBlob });
      try {
        const { Plaintext } = await reportOutage("KMS", () => client.send(command));
        return Buffer.from(Plaintext ?? []).toString("utf8");
      } catch (cause) {
        if (cause instanceof Error && cause.name === "InvalidCiphertextException") throw new VaultLocked({ cause });
        throw cause;
      }
    },
  };
}

/** Thrown if a sealed text cannot be decrypted. */
export class VaultLocked extends Error {
  override name = "VaultLocked";

  constructor(options?: ErrorOptions) {
    super("a sealed text does not open - it was changed, or sealed for something else or with another key", options);
  }
}

/**
 * Creates a signer with HMAC-SHA-256. `keyHex` is a key of 32 bytes in hex. Signatures are base64, as KMS returns them.
 */
export function createKeySigner(keyHex: string): Signer {
  const key = keyFromHex(keyHex, "the signing key");
  const mac = (text: string) => createHmac("sha256", key).update(text).digest();
  return {
    sign: async (text) => mac(text).toString("base64"),
    async verify(text, signature) {
      const [expected, actual] = [mac(text), Buffer.from(signature, "base64")];
      return actual.length === expected.length && timingSafeEqual(actual, expected);
    },
  };
}

/** Creates a signer with HMAC-SHA-256 and a key that never leaves KMS. */
export function createKmsSigner(client: kms.KMSClient, KeyId: string): Signer {
  const request = (text: string) => ({ KeyId, MacAlgorithm: "HMAC_SHA_256" as const, Message: Buffer.from(text) });
  return {
    async sign(text) {
      const { Mac } = await reportOutage("KMS", () => client.send(new kms.GenerateMacCommand(request(text))));
      return Buffer.from(Mac ?? []).toString("base64");
    },
    async verify(text, signature) {
      const command = new kms.VerifyMacCommand({ ...request(text), Mac: Buffer.from(signature, "base64") });
      const answer = await orOnError(["KMSInvalidMacException"], null, () =>
        reportOutage("KMS", () => client.send(command)),
      );
      return answer?.MacValid === true;
    },
  };
}
