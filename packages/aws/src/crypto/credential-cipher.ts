import { createHash, hkdfSync, randomBytes } from "node:crypto";
import type { KeyringNode, MultiKeyringNode } from "@aws-crypto/material-management-node";
import { DecryptCommand, EncryptCommand, GenerateDataKeyCommand, type KMSClient } from "@aws-sdk/client-kms";
import { type CredentialCipher, CredentialLocked, StoreUnavailable } from "@nova/engine";
import { kmsClient } from "../clients/clients.ts";
import { keepFirst } from "../clients/loaded.ts";
import { reportOutage } from "../clients/outage.ts";
import { readKeyFile, writeKeyFile } from "./key-file.ts";

/** Encryption keys, as keyrings of the AWS Encryption SDK. */
export interface CredentialKeys {
  /** Returns the name of the key that encrypts. */
  current(): Promise<string>;
  /** Returns a keyring with the current key only. */
  sealing(): Promise<KeyringNode>;
  /**
   * Returns a keyring with all keys. If a call of this keyring to KMS failed, `outage` returns the error of that call.
   */
  opening(): Promise<{ keyring: KeyringNode | MultiKeyringNode; outage(): StoreUnavailable | undefined }>;
  /** Creates the new key of a rotation. Does nothing with KMS, where the operator sets the id of the new key. */
  renew(): Promise<void>;
  forgetOld(): Promise<void>;
}

/**
 * Loads the Encryption SDK on demand: the SDK takes longer to load than the rest of a Lambda, and most Lambdas use no
 * credentials.
 */
export const loadSdk = () => import("./encryption-sdk.ts");

/**
 * Loads the functions that encrypt and decrypt, with key commitment. Key commitment binds each ciphertext to one key,
 * so that no ciphertext decrypts to two different texts.
 */
const loadClient = keepFirst(async () => {
  const { buildDecrypt, buildEncrypt, CommitmentPolicy } = await loadSdk();
  const commitmentPolicy = CommitmentPolicy.REQUIRE_ENCRYPT_REQUIRE_DECRYPT;
  const options = { commitmentPolicy, maxEncryptedDataKeys: 1 };
  return { ...buildEncrypt(options), ...buildDecrypt(options) };
});

/** Creates a cipher that uses the AWS Encryption SDK. */
export function createCredentialCipher(keys: CredentialKeys): CredentialCipher {
  return {
    currentKey: () => keys.current(),
    async seal(text, encryptionContext) {
      const [{ encrypt }, { AlgorithmSuiteIdentifier }] = await Promise.all([loadClient(), loadSdk()]);
      const key = await keys.current();
      const keyring = await keys.sealing();
      // This suite has no signatures: everyone who may encrypt may also decrypt, so a signature would prove nothing.
      const suiteId = AlgorithmSuiteIdentifier.ALG_AES256_GCM_IV12_TAG16_HKDF_SHA512_COMMIT_KEY;
      const options = { encryptionContext, suiteId };
      const { result } = await encrypt(keyring, Buffer.from(text), options);
      return { sealed: result.toString("base64"), key };
    },
    async open(sealed, context) {
      const { decrypt } = await loadClient();
      const { keyring, outage } = await keys.opening();
      try {
        const { plaintext, messageHeader } = await decrypt(keyring, Buffer.from(sealed, "base64"));
        // The SDK does not compare the encryption context with the expected one, so this code does.
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

/**
 * Returns the keys that the environment names: a KMS key (`NOVA_CREDENTIALS_KMS_KEY`) or 32 bytes in hex
 * (`NOVA_CREDENTIALS_KEY`). If both are absent, returns the vault's KMS key, or a key that is derived from the vault's
 * key.
 */
export function credentialKeysFrom(variables: NodeJS.ProcessEnv): CredentialKeys {
  const { NOVA_CREDENTIALS_KMS_KEY: kms, NOVA_CREDENTIALS_KEY: key, NOVA_CREDENTIALS_KEY_FILE: file } = variables;
  if (kms !== undefined) return kmsKeys(kmsClient(), kms);
  if (key !== undefined) return rawKeys({ keyHex: key, file });
  const { NOVA_VAULT_KMS_KEY: vaultKms, NOVA_VAULT_KEY: vaultKey } = variables;
  if (vaultKms !== undefined) return kmsKeys(kmsClient(), vaultKms);
  return vaultKey === undefined ? noKeys : rawKeys({ keyHex: deriveKey(vaultKey), file });
}

/** Keys that throw at the first use. Without credentials, a process needs no key. */
const noKeys: CredentialKeys = {
  current: refuse,
  sealing: refuse,
  opening: refuse,
  renew: refuse,
  forgetOld: refuse,
};

async function refuse(): Promise<never> {
  throw new CredentialKeyInvalid(
    "credentials have no key - set NOVA_CREDENTIALS_KMS_KEY (a KMS key id) or NOVA_CREDENTIALS_KEY (64 hex digits) of the server",
  );
}

/**
 * Returns keys in KMS. They encrypt with the key `keyId`, and decrypt with every key that the role may use. So a
 * rotation needs only a new `keyId`, and `kms:Decrypt` on the old key until the rotation is done.
 */
export function kmsKeys(client: KMSClient, keyId: string): CredentialKeys {
  return {
    current: async () => keyId,
    async sealing() {
      const { KmsKeyringNode } = await loadSdk();
      return new KmsKeyringNode({ generatorKeyId: keyId, clientProvider: () => kmsCalls(client) });
    },
    async opening() {
      const { KmsKeyringNode } = await loadSdk();
      let outage: StoreUnavailable | undefined;
      const onOutage = (error: StoreUnavailable) => {
        outage = error;
      };
      const keyring = new KmsKeyringNode({ discovery: true, clientProvider: () => kmsCalls(client, onOutage) });
      return { keyring, outage: () => outage };
    },
    renew: async () => undefined,
    forgetOld: async () => undefined,
  };
}

/**
 * Creates the KMS client for a keyring. A keyring hides why decryption failed, so the client reports outages to
 * `onOutage`.
 */
function kmsCalls(client: KMSClient, onOutage: (error: StoreUnavailable) => void = () => undefined) {
  const asked = async (call: () => Promise<unknown>) => {
    try {
      return (await reportOutage("KMS", call)) as never;
    } catch (error) {
      if (error instanceof StoreUnavailable) onOutage(error);
      throw error;
    }
  };
  return {
    generateDataKey: (input: object) => asked(() => client.send(new GenerateDataKeyCommand(input as never))),
    encrypt: (input: object) => asked(() => client.send(new EncryptCommand(input as never))),
    decrypt: (input: object) => asked(() => client.send(new DecryptCommand(input as never))),
  };
}

const keyNamespace = "nova";
const keyPattern = /^[0-9a-f]{64}$/;

interface RawKeysOptions {
  /** 32 bytes in hex: the key until the first rotation. */
  keyHex: string;
  /** Holds the keys after a rotation, as JSON `{"keys": [hex, ...]}`; the last key encrypts. Absent: no rotation. */
  file?: string | undefined;
}

/**
 * Returns AES-256 keys from `keyHex` or from a file. Each call of a method reads the file, because another process may
 * have rotated the key.
 */
function rawKeys({ keyHex, file }: RawKeysOptions): CredentialKeys {
  if (!keyPattern.test(keyHex)) throw new CredentialKeyInvalid("the key of the credentials is not 64 hex digits");
  const all = async () => (file === undefined ? [keyHex] : ((await keysIn(file)) ?? [keyHex]));
  const save = (keys: string[]) => (file === undefined ? Promise.resolve() : writeKeyFile(file, keys));
  return {
    current: async () => nameOf(last(await all())),
    sealing: async () => keyringOf(last(await all())),
    async opening() {
      const { MultiKeyringNode } = await loadSdk();
      const children = await Promise.all((await all()).map(keyringOf));
      return { keyring: new MultiKeyringNode({ children }), outage: () => undefined };
    },
    async renew() {
      const keys = await all();
      // Two keys mean that a rotation has not finished. The rotation then continues with the second key, and creates no
      // third key.
      if (keys.length === 1) await save([...keys, randomBytes(32).toString("hex")]);
    },
    forgetOld: async () => save([last(await all())]),
  };
}

/** Derives a key from the vault's key, without revealing the vault's key. */
function deriveKey(keyHex: string): string {
  return Buffer.from(hkdfSync("sha256", Buffer.from(keyHex, "hex"), "", "nova credentials", 32)).toString("hex");
}

class CredentialKeyInvalid extends Error {
  override name = "CredentialKeyInvalid";
}

function last(keys: readonly string[]): string {
  return keys[keys.length - 1] as string;
}

/** Returns a hash that names the key. Every encrypted text contains it. */
function nameOf(keyHex: string): string {
  return createHash("sha256").update(Buffer.from(keyHex, "hex")).digest("hex").slice(0, 16);
}

async function keyringOf(keyHex: string) {
  const { RawAesKeyringNode, RawAesWrappingSuiteIdentifier: suites } = await loadSdk();
  const unencryptedMasterKey = new Uint8Array(Buffer.from(keyHex, "hex"));
  const wrappingSuite = suites.AES256_GCM_IV12_TAG16_NO_PADDING;
  return new RawAesKeyringNode({ keyNamespace, keyName: nameOf(keyHex), unencryptedMasterKey, wrappingSuite });
}

async function keysIn(file: string): Promise<string[] | undefined> {
  const keys = await readKeyFile(file);
  if (keys === undefined) return undefined;
  const isKey = (key: unknown): key is string => typeof key === "string" && keyPattern.test(key);
  if (keys && keys.length > 0 && keys.every(isKey)) return keys;
  throw new CredentialKeyInvalid(`${file} has no keys of credentials - restore it`);
}
