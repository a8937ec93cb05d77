import type { KeyringNode, MultiKeyringNode } from "@aws-crypto/material-management-node";
import { type CredentialCipher, CredentialLocked, type StoreUnavailable } from "@nova/engine";

/** Encryption keys, as keyrings of the AWS Encryption SDK. */
export interface CredentialKeys {
  /** Name of the key that encrypts. */
  current(): Promise<string>;
  /** A keyring with the current key only. */
  sealing(): Promise<KeyringNode>;
  /** A keyring with all keys. `outage` returns the error of a failed call to KMS, if there was one. */
  opening(): Promise<{ keyring: KeyringNode | MultiKeyringNode; outage(): StoreUnavailable | undefined }>;
  /** See `CredentialCipher`. */
  renew(): Promise<void>;
  forgetOld(): Promise<void>;
}

/** Loaded on demand: it takes longer to load than the rest of a function, and most functions use no credentials. */
export const loadSdk = () => import("./encryption-sdk.ts");

let client: Promise<Awaited<ReturnType<typeof buildClient>>> | undefined;

/** Key commitment binds each text to one key, so that no ciphertext decrypts to two different texts. */
async function buildClient() {
  const { buildDecrypt, buildEncrypt, CommitmentPolicy } = await loadSdk();
  const commitmentPolicy = CommitmentPolicy.REQUIRE_ENCRYPT_REQUIRE_DECRYPT;
  const options = { commitmentPolicy, maxEncryptedDataKeys: 1 };
  return { ...buildEncrypt(options), ...buildDecrypt(options) };
}

/** Encrypts with the AWS Encryption SDK. */
export function createCredentialCipher(keys: CredentialKeys): CredentialCipher {
  const sdk = () => {
    client ??= buildClient();
    return client;
  };
  return {
    currentKey: () => keys.current(),
    async seal(text, encryptionContext) {
      const [{ encrypt }, { AlgorithmSuiteIdentifier }] = await Promise.all([sdk(), loadSdk()]);
      const key = await keys.current();
      const keyring = await keys.sealing();
      // A suite without signatures: everyone who may encrypt may also decrypt, so a signature would prove nothing.
      const suiteId = AlgorithmSuiteIdentifier.ALG_AES256_GCM_IV12_TAG16_HKDF_SHA512_COMMIT_KEY;
      const options = { encryptionContext, suiteId };
      const { result } = await encrypt(keyring, Buffer.from(text), options);
      return { sealed: result.toString("base64"), key };
    },
    async open(sealed, context) {
      const { decrypt } = await sdk();
      const { keyring, outage } = await keys.opening();
      try {
        const { plaintext, messageHeader } = await decrypt(keyring, Buffer.from(sealed, "base64"));
        // The SDK does not compare the encryption context.
        if (!isSame(messageHeader.encryptionContext, context)) throw new CredentialLocked();
        return plaintext.toString();
      } catch (cause) {
        throw cause instanceof CredentialLocked ? cause : (outage() ?? new CredentialLocked({ cause }));
      }
    },
    renew: () => keys.renew(),
    forgetOldKeys: () => keys.forgetOld(),
  };
}

function isSame(sealedFor: Readonly<Record<string, string>>, context: Record<string, string>): boolean {
  const names = Object.keys(sealedFor);
  return names.length === Object.keys(context).length && names.every((name) => sealedFor[name] === context[name]);
}
