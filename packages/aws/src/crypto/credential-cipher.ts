import type { KeyringNode, MultiKeyringNode } from "@aws-crypto/material-management-node";
import { type CredentialCipher, CredentialLocked, type StoreUnavailable } from "@nova/engine";

/** Whatever keys a cipher has, as the Encryption SDK takes them. */
export interface CredentialKeys {
  /** Names the one that seals. */
  current(): Promise<string>;
  /** Seals with the current key alone. */
  sealing(): Promise<KeyringNode>;
  /** Opens what any of the keys has sealed; `outage` is why it could not look, where that is so. */
  opening(): Promise<{ keyring: KeyringNode | MultiKeyringNode; outage(): StoreUnavailable | undefined }>;
  /** See `CredentialCipher`. */
  renew(): Promise<void>;
  forgetOld(): Promise<void>;
}

/** It takes longer to load than all the rest of a function, and is only needed where there are credentials. */
export const loadSdk = () => import("./encryption-sdk.ts");

let client: Promise<Awaited<ReturnType<typeof buildClient>>> | undefined;

/** One key seals a text, and the commitment binds it to that one: no text opens to two things. */
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
      // Who may seal may open as well, so that a signature would prove nothing.
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
        // The SDK opens a text whatever its context says: whose it is has to be looked at.
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
