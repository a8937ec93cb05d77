import * as crypto from "node:crypto";
import { DescribeKeyCommand, GetPublicKeyCommand, type KMSClient, SignCommand } from "@aws-sdk/client-kms";
import type { KeyPair, PublicKey } from "@nova/engine";
import { keepFirst } from "../clients/loaded.ts";
import { reportOutage } from "../clients/outage.ts";
import { readKeyFile, writeKeyFile } from "./key-file.ts";
import { keyFromHex } from "./vaults.ts";

/**
 * Seconds for which an old key stays valid after the new key was made. Functions of the old deployment may still sign
 * with the old key.
 */
const overlapSeconds = 24 * 60 * 60;

/** Tolerated difference, in seconds, between the clock of a function that signs and the clock that dated the key. */
const toleranceSeconds = 5 * 60;

/** A key that NOVA can name, and the time at which it was made. */
interface DatedKey {
  jwk: Point;
  /** Seconds since 1970. */
  from: number;
}

/** The coordinates of a public key, in base64url. */
type Point = Pick<PublicKey, "x" | "y">;

/**
 * Creates a key pair in KMS (`ECC_NIST_P256`). `keyIds` names every key that was ever used. The last key is the newest,
 * and signs. The private keys never leave KMS.
 */
export function createKmsKeyPair(client: KMSClient, keyIds: readonly string[]): KeyPair {
  const newest = keyIds.at(-1);
  if (newest === undefined)
    throw new ProofKeyInvalid("NOVA_PROOF_KMS_KEYS names no key - name at least one KMS key id");
  const points = new Map<string, Promise<Point>>();
  const published = keepFirst(async () =>
    publish(await Promise.all(keyIds.map(async (id) => ({ jwk: await pointOf(id), from: await createdAt(id) })))),
  );
  const pointOf = (KeyId: string): Promise<Point> => {
    const known = points.get(KeyId) ?? readPoint(KeyId);
    points.set(KeyId, known);
    known.catch(() => points.delete(KeyId));
    return known;
  };
  async function readPoint(KeyId: string): Promise<Point> {
    const answer = await reportOutage("KMS", () => client.send(new GetPublicKeyCommand({ KeyId })));
    const key = crypto.createPublicKey({ key: Buffer.from(answer.PublicKey ?? []), format: "der", type: "spki" });
    return key.export({ format: "jwk" }) as Point;
  }
  async function createdAt(KeyId: string): Promise<number> {
    const { KeyMetadata } = await reportOutage("KMS", () => client.send(new DescribeKeyCommand({ KeyId })));
    return Math.floor((KeyMetadata?.CreationDate?.getTime() ?? 0) / 1000);
  }
  return {
    async sign(text) {
      const digest = crypto.createHash("sha256").update(text).digest();
      const request = { KeyId: newest, SigningAlgorithm: "ECDSA_SHA_256", MessageType: "DIGEST" } as const;
      const [{ Signature }, point] = await Promise.all([
        reportOutage("KMS", () => client.send(new SignCommand({ ...request, Message: digest }))),
        pointOf(newest),
      ]);
      return signatureText(thumbprintOf(point), rawSignature(Buffer.from(Signature ?? [])));
    },
    verify: async (text, signature, at) => isSigned(await published(), text, signature, at),
    publicKeys: published,
  };
}

export interface FileKeyPairOptions {
  /** 32 bytes in hex, from which the first private key is derived. */
  keyHex: string;
  /**
   * Holds the keys of later rotations as JSON: `{"keys": [{"key": <64 hex digits>, "from": <seconds since 1970>}]}`.
   * Absent: no rotation is possible.
   */
  file?: string | undefined;
}

/**
 * Creates a key pair from a secret and a file. Each call of a method reads the file, because another process may have
 * rotated the key.
 */
export function createFileKeyPair({ keyHex, file }: FileKeyPairOptions): KeyPair {
  const first = privateKeyFrom(keyFromHex(keyHex, "the key of the proofs"), 0);
  const later = new Map<string, LocalKey>();
  async function readKeys(): Promise<LocalKey[]> {
    const stored = file === undefined ? [] : await readStoredKeys(file);
    return [first, ...stored.map((one) => cached(one))];
  }
  function cached({ key, from }: StoredKey): LocalKey {
    const known = later.get(key) ?? privateKeyFrom(Buffer.from(key, "hex"), from);
    later.set(key, known);
    return known;
  }
  return {
    async sign(text) {
      const { jwk, privateKey } = (await readKeys()).at(-1) ?? first;
      const raw = crypto.sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
      return signatureText(thumbprintOf(jwk), raw);
    },
    verify: async (text, signature, at) => isSigned(publish(await readKeys()), text, signature, at),
    publicKeys: async () => publish(await readKeys()),
    async rotate() {
      if (file === undefined)
        throw new ProofKeyInvalid(
          "the key of the proofs has no file - name one in NOVA_PROOF_KEY_FILE, and rotate then",
        );
      const keys = await readStoredKeys(file);
      const added = { key: crypto.randomBytes(32).toString("hex"), from: Math.floor(Date.now() / 1000) };
      await writeKeyFile(file, [...keys, added]);
      return publish(await readKeys()).at(-1) as PublicKey;
    },
  };
}

interface LocalKey extends DatedKey {
  privateKey: ReturnType<typeof crypto.createPrivateKey>;
}

/** The order of the curve P-256 (FIPS 186-4, D.1.2.3). */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/**
 * Derives a private key as a remainder. With 48 bytes, all remainders are almost equally likely (FIPS 186-4, B.4.1).
 */
function privateKeyFrom(secret: Buffer, from: number): LocalKey {
  const seed = Buffer.from(crypto.hkdfSync("sha256", secret, "", "nova proof key", 48));
  const scalar = (BigInt(`0x${seed.toString("hex")}`) % (order - 1n)) + 1n;
  const d = Buffer.from(scalar.toString(16).padStart(64, "0"), "hex");
  const point = publicPointOf(d);
  const jwk = { kty: "EC", crv: "P-256", ...point, d: d.toString("base64url") };
  return { jwk: point, from, privateKey: crypto.createPrivateKey({ key: jwk, format: "jwk" }) };
}

function publicPointOf(d: Buffer): Point {
  const pair = crypto.createECDH("prime256v1");
  pair.setPrivateKey(d);
  const bytes = pair.getPublicKey();
  return { x: bytes.subarray(1, 33).toString("base64url"), y: bytes.subarray(33).toString("base64url") };
}

interface StoredKey {
  key: string;
  from: number;
}

async function readStoredKeys(file: string): Promise<StoredKey[]> {
  const keys = await readKeyFile(file);
  if (keys === undefined) return [];
  if (keys?.every(isStoredKey)) return keys;
  throw new ProofKeyInvalid(
    `${file} has no keys of proofs - restore it, because no other key can check the proofs that they signed`,
  );
}

class ProofKeyInvalid extends Error {
  override name = "ProofKeyInvalid";
}

function isStoredKey(value: unknown): value is StoredKey {
  const { key, from } = (value ?? {}) as Partial<StoredKey>;
  return typeof key === "string" && /^[0-9a-f]{64}$/.test(key) && Number.isSafeInteger(from);
}

/** Returns the keys in their published form. A key stays valid until one day after the next key was made. */
function publish(keys: readonly DatedKey[]): PublicKey[] {
  return keys.map(({ jwk: { x, y }, from }, index) => {
    const next = keys[index + 1];
    const period = next ? { nbf: from, exp: next.from + overlapSeconds } : { nbf: from };
    return { kty: "EC", crv: "P-256", x, y, use: "sig", alg: "ES256", kid: thumbprintOf({ x, y }), ...period };
  });
}

/** Computes the thumbprint of a key (RFC 7638): the hash of its required members in the order of the alphabet. */
function thumbprintOf({ x, y }: Point): string {
  return crypto.hash("sha256", JSON.stringify({ crv: "P-256", kty: "EC", x, y }), "base64url");
}

function signatureText(kid: string, raw: Buffer): string {
  return `${kid}.${raw.toString("base64url")}`;
}

/**
 * The last character of 64 bytes in base64url has four unused bits. These bits must be 0, so that each signature has
 * only one text.
 */
const signaturePattern = /^([\w-]{43})\.([\w-]{85}[AQgw])$/;

function isSigned(keys: readonly PublicKey[], text: string, signature: string, at: string | undefined): boolean {
  const [, kid, raw = ""] = signaturePattern.exec(signature) ?? [];
  const key = keys.find((one) => one.kid === kid);
  if (!key || (at !== undefined && !isInPeriod(key, Date.parse(at) / 1000))) return false;
  const { kty, crv, x, y } = key;
  const publicKey = crypto.createPublicKey({ key: { kty, crv, x, y }, format: "jwk" });
  const options = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
  return crypto.verify("sha256", Buffer.from(text), options, Buffer.from(raw, "base64url"));
}

function isInPeriod({ nbf, exp }: PublicKey, seconds: number): boolean {
  return seconds >= nbf - toleranceSeconds && (exp === undefined || seconds < exp + toleranceSeconds);
}

/** Bytes of each of the two numbers of a signature. */
const numberBytes = 32;

/** Converts a signature of KMS, which is DER (`SEQUENCE { r INTEGER, s INTEGER }`), to the 64 bytes of r and s. */
function rawSignature(der: Buffer): Buffer {
  const rLength = der[3] ?? 0;
  const r = der.subarray(4, 4 + rLength);
  const s = der.subarray(6 + rLength, 6 + rLength + (der[5 + rLength] ?? 0));
  return Buffer.concat([paddedNumber(r), paddedNumber(s)]);
}

/** Removes the leading zero of a DER number, or adds the leading zeros that DER leaves out. */
function paddedNumber(bytes: Buffer): Buffer {
  const short = bytes.subarray(Math.max(0, bytes.length - numberBytes));
  return Buffer.concat([Buffer.alloc(numberBytes - short.length), short]);
}
