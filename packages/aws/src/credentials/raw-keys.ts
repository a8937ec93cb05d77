import { createHash, hkdfSync, randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { type CredentialKeys, loadSdk } from "./cipher.ts";

const keyNamespace = "nova";
const keyPattern = /^[0-9a-f]{64}$/;

export interface RawKeysOptions {
  /** 32 bytes in hex: the key of whoever has never changed it. */
  keyHex: string;
  /** Keeps the keys of those who have: JSON, `{"keys": [hex, ...]}`, the last one seals. Absent: the key never changes. */
  file?: string | undefined;
}

/** AES-256 keys at hand. The file is read anew each time, since another process may have changed the key. */
export function rawKeys({ keyHex, file }: RawKeysOptions): CredentialKeys {
  if (!keyPattern.test(keyHex)) throw new CredentialKeyInvalid("the key of the credentials is not 64 hex digits");
  const all = async () => (file === undefined ? [keyHex] : ((await keysIn(file)) ?? [keyHex]));
  const save = (keys: string[]) => (file === undefined ? Promise.resolve() : replaceFile(file, keys));
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
      // Several: a rotation was left unfinished, and goes on to the key that it had made.
      if (keys.length === 1) await save([...keys, randomBytes(32).toString("hex")]);
    },
    forgetOld: async () => save([last(await all())]),
  };
}

/** A key for this purpose that tells nothing of the other one. */
export function keyDerivedFrom(keyHex: string): string {
  return Buffer.from(hkdfSync("sha256", Buffer.from(keyHex, "hex"), "", "nova credentials", 32)).toString("hex");
}

export class CredentialKeyInvalid extends Error {
  override name = "CredentialKeyInvalid";
}

function last(keys: readonly string[]): string {
  return keys[keys.length - 1] as string;
}

/** It stands in every text that it seals, so it is no more than a name. */
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
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const keys: unknown = JSON.parse(text).keys;
  if (Array.isArray(keys) && keys.length > 0 && keys.every((key) => keyPattern.test(key))) return keys;
  throw new CredentialKeyInvalid(`${file} has no keys of credentials - restore it`);
}

/** Nobody ever sees it half written. */
async function replaceFile(file: string, keys: string[]): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, JSON.stringify({ keys }), { mode: 0o600, flag: "wx" });
  await rename(draft, file);
}
