// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkToken, parseAuthorities } from "../../packages/verify/src/stamp.ts";
import { type Authority, type AuthorityOptions, makeAuthority } from "../support/tsa/authority.ts";
import { pythonEnvironment } from "./support/python.ts";
import { forgeToken } from "./support/stamps.ts";

const run = promisify(execFile);
const text = '{"format":1,"number":1}';
const digest = createHash("sha256").update(text).digest();

/** Checks a token with the PyPI library rfc3161-client, and with the second verifier. */
const judges = `
import hashlib, sys
from cryptography import x509
from rfc3161_client import VerifierBuilder, decode_timestamp_response
from stamp import check_token, StampRefused
token, ca, text = open("token", "rb").read(), open("ca.pem", "rb").read(), open("text").read()
def wrap(tag, *parts):
    data = b"".join(parts)
    size = bytes([len(data)]) if len(data) < 128 else (lambda n: bytes([0x80 | len(n)]) + n)(len(data).to_bytes((len(data).bit_length() + 7) // 8, "big"))
    return bytes([tag]) + size + data
try:
    response = decode_timestamp_response(wrap(0x30, bytes.fromhex("3003020100"), token))
    builder = VerifierBuilder()
    for root in x509.load_pem_x509_certificates(ca): builder = builder.add_root_certificate(root)
    # The library does not take intermediate certificates from the token itself.
    middle = open("middle.pem", "rb").read()
    if middle: builder = builder.add_intermediate_certificate(x509.load_pem_x509_certificate(middle))
    print("valid" if builder.build().verify_message(response, text.encode()) else "broken")
except Exception as error:
    print("broken")
try:
    check_token(token, text, ca)
    print("valid")
except StampRefused:
    print("broken")
`;

let folder: string;
const open: Authority[] = [];
let authority: Authority;
let token: Buffer;

async function make(options?: AuthorityOptions): Promise<Authority> {
  const made = await makeAuthority(options);
  open.push(made);
  return made;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-stamp-"));
  authority = await make();
  token = await authority.stamp(digest);
});
afterAll(async () => {
  for (const one of open) await one[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Returns what the verifier, rfc3161-client and the verifier in Python say about a token. */
async function judge(bytes: Uint8Array, ca = authority.ca, middle = "") {
  for (const [name, data] of Object.entries({ token: bytes, "ca.pem": ca, "middle.pem": middle, text }))
    await writeFile(join(folder, name), data);
  const environment = await pythonEnvironment();
  const PYTHONPATH = `${environment.PYTHONPATH}:${join(import.meta.dirname, "python")}`;
  const { stdout } = await run("python3", ["-c", judges], { cwd: folder, env: { ...environment, PYTHONPATH } });
  const [library, python] = stdout.trim().split("\n");
  const own = await checkToken(Buffer.from(bytes).toString("base64"), text, parseAuthorities(ca)).then(
    () => "valid",
    () => "broken",
  );
  return { own, library, python };
}

const everyone = (verdict: "valid" | "broken") => ({ own: verdict, library: verdict, python: verdict });

describe("a time stamp", { timeout: 60_000 }, () => {
  it.each([
    { key: "ec" as const, hasIntermediate: false },
    { key: "rsa" as const, hasIntermediate: true },
  ])("of an authority with %j is valid for three independent programs", async (options) => {
    const own = await make(options);
    const middle = options.hasIntermediate ? await readFile(join(own.folder, "middle.pem"), "utf8") : "";
    expect(await judge(await own.stamp(digest), own.ca, middle)).toEqual(everyone("valid"));
  });

  it("of another text is refused", async () => {
    expect(await judge(await authority.stamp(createHash("sha256").update("other").digest()))).toEqual(
      everyone("broken"),
    );
  });

  it("of another authority is refused", async () => {
    expect(await judge(token, (await make()).ca)).toEqual(everyone("broken"));
    expect(await judge(await (await make()).stamp(digest))).toEqual(everyone("broken"));
  });

  it.each([
    ["that has expired", ["20200101000000Z", "20210101000000Z"]],
    ["that is not valid yet", ["20400101000000Z", "20410101000000Z"]],
  ] as const)("signed with a certificate %s is refused", async (_, [from, to]) => {
    const own = await make({ period: [from, to] });
    expect(await judge(await own.stamp(digest), own.ca)).toEqual(everyone("broken"));
  });

  it("is refused if its time, its imprint or its signed attributes were changed", async () => {
    const year = token.indexOf("Z", token.indexOf(digest)) - 14;
    const places = {
      time: year + 13,
      imprint: token.indexOf(digest) + 5,
      attribute: token.lastIndexOf(Buffer.from("06092a864886f70d010904", "hex")) + 20,
      signature: token.length - 3,
      certificate: token.indexOf("NOVA tests") + 2,
    };
    for (const [name, place] of Object.entries(places)) {
      const changed = Buffer.from(token);
      changed[place] = (changed[place] as number) ^ 1;
      expect({ name, ...(await judge(changed)) }).toEqual({ name, ...everyone("broken") });
    }
  });

  it("is refused if its attributes were signed again by another key", async () => {
    const template = { authority, token };
    expect(await judge(forgeToken(template))).toEqual(everyone("valid"));
    expect(await judge(forgeToken(template, { by: await make(), named: authority }))).toEqual(everyone("broken"));
  });

  it.each([
    ["without an extended key usage", []],
    ["that is only for servers", ["extendedKeyUsage = critical, serverAuth"]],
    ["that is for time stamps and servers", ["extendedKeyUsage = critical, timeStamping, serverAuth"]],
  ])("signed with a certificate %s is refused", async (_, uses) => {
    const own = await make({ usages: ["keyUsage = critical, digitalSignature", ...uses] });
    expect(await judge(forgeToken({ authority, token }, { by: own }), own.ca)).toEqual(everyone("broken"));
  });

  it("is refused if bytes follow it, if it is cut off, or if it has no valid form", async () => {
    const forms = [
      Buffer.concat([token, Buffer.of(0)]),
      token.subarray(0, -1),
      Buffer.from("no token"),
      Buffer.alloc(0),
    ];
    for (const form of forms) expect(await judge(form)).toMatchObject({ own: "broken", python: "broken" });
  });
});
