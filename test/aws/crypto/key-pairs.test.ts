import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kmsClient } from "@nova/aws";
import type { KeyPair, PublicKey } from "@nova/engine";
import { calculateJwkThumbprint } from "jose";
import { describe, expect, it } from "vitest";
import { createFileKeyPair, createKmsKeyPair } from "../../../packages/aws/src/crypto/key-pairs.ts";
import { standInForKms } from "../../support/kms.ts";

/** Two keys in a fake of KMS. The second key was made one hour after the first key. */
const made: Record<string, { privateKey: KeyObject; publicKey: KeyObject; seconds: number }> = {
  first: { ...generateKeyPairSync("ec", { namedCurve: "P-256" }), seconds: 1_700_000_000 },
  second: { ...generateKeyPairSync("ec", { namedCurve: "P-256" }), seconds: 1_700_003_600 },
};
const asked: string[] = [];

const kms = createServer(async (request, response) => {
  const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
  const { KeyId, ...input } = JSON.parse(Buffer.concat(chunks).toString());
  const operation = String(request.headers["x-amz-target"]).replace("TrentService.", "");
  asked.push(`${operation} ${KeyId}`);
  const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
  const key = made[KeyId];
  if (!key) return answer(400, { __type: "NotFoundException", message: "no such key" });
  if (operation === "DescribeKey") return answer(200, { KeyMetadata: { KeyId, CreationDate: key.seconds } });
  if (operation === "GetPublicKey") {
    const der = key.publicKey.export({ format: "der", type: "spki" });
    return answer(200, { PublicKey: der.toString("base64") });
  }
  if (input.MessageType !== "DIGEST" || input.SigningAlgorithm !== "ECDSA_SHA_256")
    return answer(400, { __type: "ValidationException" });
  return answer(200, {
    Signature: signDigest(key.privateKey, Buffer.from(input.Message, "base64")).toString("base64"),
  });
});

/**
 * Texts by their SHA-256. The fake of KMS gets a digest, but Node signs only texts, so the fake looks up the text of
 * the digest.
 */
const messages = new Map<string, string>();
function signDigest(privateKey: KeyObject, digest: Buffer): Buffer {
  return sign("sha256", Buffer.from(messages.get(digest.toString("hex")) ?? ""), privateKey);
}
function known(text: string): string {
  messages.set(createHash("sha256").update(text).digest("hex"), text);
  return text;
}

const client = kmsClient();
standInForKms(kms, client);
const keyHex = "0123456789abcdef".repeat(4);

async function newFile(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), "nova-keys-")), "proof-keys.json");
}

const pairs: Record<string, () => Promise<KeyPair>> = {
  KMS: async () => createKmsKeyPair(client, ["first", "second"]),
  "a secret": async () => createFileKeyPair({ keyHex }),
  "a rotated file": async () => {
    const pair = createFileKeyPair({ keyHex, file: await newFile() });
    await pair.rotate?.();
    return pair;
  },
};

describe.each(Object.keys(pairs))("a key pair that signs texts, from %s,", (name) => {
  const open = () => (pairs[name] as () => Promise<KeyPair>)();

  it("makes a signature that a caller with only the public key can verify", async () => {
    const pair = await open();
    for (let turn = 0; turn < 40; turn++) {
      const text = known(`nova close v1\n${turn}`);
      const signature = await pair.sign(text);
      const [kid, raw = ""] = signature.split(".");
      const key = (await pair.publicKeys()).find((one) => one.kid === kid) as PublicKey;
      const publicKey = createPublicKey({ key: { kty: key.kty, crv: key.crv, x: key.x, y: key.y }, format: "jwk" });
      const bytes = Buffer.from(raw, "base64url");
      expect(bytes.length).toBe(64);
      expect(verify("sha256", Buffer.from(text), { key: publicKey, dsaEncoding: "ieee-p1363" }, bytes)).toBe(true);
      expect(await pair.verify(text, signature)).toBe(true);
    }
  });

  it("does not verify a changed text, a changed signature or the signature of another key", async () => {
    const pair = await open();
    const signature = await pair.sign(known("a text"));
    const [kid = "", raw = ""] = signature.split(".");
    const other = await createFileKeyPair({ keyHex: "ab".repeat(32) }).sign("a text");
    const bad = [
      "",
      kid,
      raw,
      `${kid}.`,
      `${kid}.${raw.slice(1)}`,
      `${kid}.${raw.startsWith("A") ? "B" : "A"}${raw.slice(1)}`,
      `${kid}.${Buffer.alloc(64).toString("base64url")}`,
      `${signature}A`,
      `${signature}\n`,
      // The next character of the alphabet differs only in bits that base64url ignores at this position.
      signature.slice(0, -1) + String.fromCharCode(signature.charCodeAt(signature.length - 1) + 1),
      other,
      `${kid}.${other.split(".")[1]}`,
    ];
    for (const forged of bad) expect(await pair.verify("a text", forged), forged).toBe(false);
    expect(await pair.verify("a text ", signature)).toBe(false);
  });

  it("publishes each key under its thumbprint, with a period of validity that ends one day after the next key was made", async () => {
    const keys = await (await open()).publicKeys();
    for (const [index, key] of keys.entries()) {
      expect(key).toMatchObject({ kty: "EC", crv: "P-256", use: "sig", alg: "ES256" });
      expect(key.kid).toBe(await calculateJwkThumbprint({ kty: key.kty, crv: key.crv, x: key.x, y: key.y }));
      const next = keys[index + 1];
      expect(key.exp).toBe(next && next.nbf + 86_400);
    }
  });

  it("does not verify a signature whose time is before the period of validity of the key", async () => {
    const pair = await open();
    const newest = (await pair.publicKeys()).at(-1) as PublicKey;
    const signature = await pair.sign(known("a text"));
    const at = (seconds: number) => new Date(seconds * 1000).toISOString();
    expect(signature.startsWith(newest.kid)).toBe(true);
    expect(await pair.verify("a text", signature, at(newest.nbf + 1))).toBe(true);
    expect(await pair.verify("a text", signature, "not a time")).toBe(false);
    if (newest.nbf > 300) expect(await pair.verify("a text", signature, at(newest.nbf - 301))).toBe(false);
  });
});

describe("a key pair in KMS", () => {
  it("makes each signature after the first one with a single call of KMS", async () => {
    const pair = createKmsKeyPair(client, ["first", "second"]);
    await pair.sign(known("one"));
    asked.length = 0;
    await pair.sign(known("two"));
    expect(asked).toEqual(["Sign second"]);
  });

  it("verifies signatures of its earlier keys, and cannot be rotated", async () => {
    const signature = await createKmsKeyPair(client, ["first"]).sign(known("early"));
    const pair = createKmsKeyPair(client, ["first", "second"]);
    expect(await pair.verify("early", signature, "2023-11-14T22:13:21.000Z")).toBe(true);
    expect(await pair.verify("early", signature, "2023-11-17T00:00:00.000Z")).toBe(false);
    expect(pair.rotate).toBeUndefined();
  });

  it("asks KMS a second time for a key after an error", async () => {
    const pair = createKmsKeyPair(client, ["unknown"]);
    await expect(pair.publicKeys()).rejects.toThrow(/no such key/);
    made.unknown = made.first as (typeof made)[string];
    expect(await pair.publicKeys()).toHaveLength(1);
  });

  it("throws if no KMS key is named", () => {
    expect(() => createKmsKeyPair(client, [])).toThrow(
      "NOVA_PROOF_KMS_KEYS names no key - name at least one KMS key id",
    );
  });
});

describe("a key pair from a secret", () => {
  it("signs with the newest key after a rotation, even in another process, and verifies older signatures", async () => {
    const file = await newFile();
    const [one, other] = [createFileKeyPair({ keyHex, file }), createFileKeyPair({ keyHex, file })];
    const before = await one.sign("a text");
    const added = await one.rotate?.();
    expect((await other.sign("a text")).startsWith(`${added?.kid}.`)).toBe(true);
    expect(await other.verify("a text", before, new Date().toISOString())).toBe(true);
    expect((await other.publicKeys()).map(({ kid }) => kid)).toEqual([before.split(".")[0], added?.kid]);
    expect(JSON.parse(await readFile(file, "utf8")).keys).toHaveLength(1);
  });

  it.each(["", "{}", '{"keys": 1}', '{"keys": [{"key": "ab", "from": 1}]}', '{"keys": [null]}', "[]", "null"])(
    "refuses the file %j, because without the keys of the file it would sign with an older key",
    async (text) => {
      const file = await newFile();
      await writeFile(file, text);
      await expect(createFileKeyPair({ keyHex, file }).sign("a text")).rejects.toThrow(
        /has no keys of proofs - restore it/,
      );
    },
  );

  it("cannot be rotated without a file", async () => {
    await expect(createFileKeyPair({ keyHex }).rotate?.()).rejects.toThrow(/name one in NOVA_PROOF_KEY_FILE/);
  });

  it.each(["", "abc", "g".repeat(64)])("refuses the secret %j", (bad) => {
    expect(() => createFileKeyPair({ keyHex: bad })).toThrow(/64 hex digits/);
  });
});
