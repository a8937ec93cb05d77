import { randomBytes } from "node:crypto";
import type { Outgoing } from "../outgoing/outgoing.ts";
import type { TimeStamper } from "../ports/roots.ts";

/** An element of DER: its tag byte, its whole encoding, and its contents. */
interface DerElement {
  tag: number;
  encoding: Buffer;
  contents: Buffer;
}

// The tags of DER.
const boolean = 0x01;
const integer = 0x02;
const octets = 0x04;
const oid = 0x06;
const time = 0x18;
const sequence = 0x30;
const set = 0x31;
/** The ASN.1 tag `[0]`, whose contents are another element. */
const first = 0xa0;

/** The bytes are not the DER that the reader expects. */
class NotDer extends Error {
  override name = "NotDer";
}

/** Reads the elements in `bytes`, but not the elements inside these elements. Throws `NotDer`. */
function readDer(bytes: Buffer): DerElement[] {
  const found: DerElement[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { start, end } = spanAt(bytes, at);
    const tag = bytes.readUInt8(at);
    found.push({ tag, encoding: bytes.subarray(at, end), contents: bytes.subarray(start, end) });
    at = end;
  }
  return found;
}

/** Returns the contents of an element with this tag. Throws `NotDer` for another element. */
function contentsOf(element: DerElement | undefined, tag: number): Buffer {
  if (element?.tag === tag) return element.contents;
  throw new NotDer(`an element has the tag ${element?.tag}, not ${tag}`);
}

/**
 * Returns the positions at which the contents of the element at `at` start and end. The length has at most four bytes,
 * and as few bytes as possible.
 */
function spanAt(bytes: Buffer, at: number): { start: number; end: number } {
  const lengthByte = bytes[at + 1];
  if (lengthByte === undefined) throw new NotDer("an element has no length");
  const count = lengthByte < 0x80 ? 0 : lengthByte & 0x7f;
  const start = at + 2 + count;
  if (count > 4 || lengthByte === 0x80 || start > bytes.length) throw new NotDer("the length of an element is not DER");
  const length = count === 0 ? lengthByte : bytes.readUIntBE(at + 2, count);
  const isShortest = count === 0 || length >= (count === 1 ? 0x80 : 2 ** (8 * (count - 1)));
  if (!isShortest || start + length > bytes.length) throw new NotDer("the length of an element is not DER");
  return { start, end: start + length };
}

/** Encodes an element. `contents` has less than 128 bytes. */
function derOf(tag: number, ...contents: Uint8Array[]): Buffer {
  const bytes = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag, bytes.length), bytes]);
}

/** The authority did not answer, or its answer is not a stamp over the hash. */
export class StampFailed extends Error {
  override name = "StampFailed";
}

/** The maximum size of an answer, in bytes. A token has a few kilobytes, most of them certificates. */
const maxBytes = 100_000;

/**
 * Returns a `TimeStamper` that asks an RFC 3161 authority over HTTP. One request takes ten seconds at most, and is not
 * repeated.
 */
export function createTimeStamper(outgoing: Pick<Outgoing, "fetch">, url: string): TimeStamper {
  const { host } = new URL(url);
  return {
    async stamp(sha256) {
      try {
        const nonce = newNonce();
        const answer = await outgoing.fetch(url, {
          method: "POST",
          headers: { "content-type": "application/timestamp-query", accept: "application/timestamp-reply" },
          body: stampRequest(sha256, nonce),
        });
        if (!answer.ok) {
          await answer.body?.cancel();
          throw new StampFailed(`it answered ${answer.status}`);
        }
        const bytes = Buffer.from(await answer.arrayBuffer());
        if (bytes.length > maxBytes) throw new StampFailed(`its answer has more than ${maxBytes} bytes`);
        return readStampAnswer(bytes, sha256, nonce);
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new StampFailed(`the time-stamp authority ${host} gave no stamp (${why}) - look there`, { cause });
      }
    },
  };
}

/** Returns eight random bytes that are a positive integer in DER. */
function newNonce(): Buffer {
  const nonce = randomBytes(8);
  nonce.writeUInt8((nonce.readUInt8(0) & 0x3f) | 0x40, 0);
  return nonce;
}

const idSha256 = Buffer.from("608648016503040201", "hex");
const idSignedData = Buffer.from("2a864886f70d010702", "hex");
const idTstInfo = Buffer.from("2a864886f70d0109100104", "hex");

/** Builds a TimeStampReq of version 1 that asks for the certificates. */
function stampRequest(sha256: Uint8Array, nonce: Uint8Array): Buffer {
  const algorithm = derOf(sequence, derOf(oid, idSha256), derOf(0x05));
  return derOf(
    sequence,
    derOf(integer, Buffer.of(1)),
    derOf(sequence, algorithm, derOf(octets, sha256)),
    derOf(integer, nonce),
    derOf(boolean, Buffer.of(0xff)),
  );
}

/** Reads a TimeStampResp. It does not check the signature in the token, because verifiers check it. */
function readStampAnswer(answer: Buffer, sha256: Uint8Array, nonce: Buffer): { token: Buffer; at: Date } {
  const [response, ...after] = readDer(answer);
  if (after.length > 0) throw new StampFailed("its answer goes on after the response");
  const [statusInfo, token, ...more] = readDer(contentsOf(response, sequence));
  const [status] = readDer(contentsOf(statusInfo, sequence));
  const granted = contentsOf(status, integer);
  // 0: granted. 1: granted with modifications.
  if (granted.length !== 1 || granted.readUInt8(0) > 1)
    throw new StampFailed(`it refused with status ${granted.toString("hex")}`);
  if (!token || more.length > 0) throw new StampFailed("its answer has no token");
  const { at, ...said } = readTstInfo(tstInfoIn(contentsOf(token, sequence)));
  if (!said.sha256.equals(sha256)) throw new StampFailed("its token is over another hash");
  if (!said.nonce?.equals(nonce)) throw new StampFailed("its token answers another request");
  return { token: token.encoding, at };
}

/** Returns the TSTInfo in the contents of a ContentInfo. */
function tstInfoIn(contentInfo: Buffer): Buffer {
  const [type, content] = readDer(contentInfo);
  if (!contentsOf(type, oid).equals(idSignedData)) throw new StampFailed("its token is not signed data");
  const [signedData] = readDer(contentsOf(content, first));
  const [, algorithms, encapsulated] = readDer(contentsOf(signedData, sequence));
  contentsOf(algorithms, set);
  const [contentType, wrapped] = readDer(contentsOf(encapsulated, sequence));
  if (!contentsOf(contentType, oid).equals(idTstInfo)) throw new StampFailed("its token signs something else");
  const [bytes] = readDer(contentsOf(wrapped, first));
  const [tstInfo, ...after] = readDer(contentsOf(bytes, octets));
  if (after.length > 0) throw new StampFailed("its token goes on after the TSTInfo");
  return contentsOf(tstInfo, sequence);
}

function readTstInfo(tstInfo: Buffer): { sha256: Buffer; nonce: Buffer | undefined; at: Date } {
  const [version, policy, imprint, serial, generated, ...optional] = readDer(tstInfo);
  if (!contentsOf(version, integer).equals(Buffer.of(1))) throw new StampFailed("its token has another version");
  contentsOf(policy, oid);
  contentsOf(serial, integer);
  const [algorithm, hashed] = readDer(contentsOf(imprint, sequence));
  const [algorithmId] = readDer(contentsOf(algorithm, sequence));
  if (!contentsOf(algorithmId, oid).equals(idSha256)) throw new StampFailed("its token is over another kind of hash");
  return {
    sha256: contentsOf(hashed, octets),
    nonce: optional.find(({ tag }) => tag === integer)?.contents,
    at: readTime(contentsOf(generated, time).toString("latin1")),
  };
}

/** Reads a GeneralizedTime in UTC, with or without fractions of a second. */
function readTime(text: string): Date {
  const found = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d{1,9})?Z$/.exec(text);
  const [, year, month, day, hours, minutes, seconds, fraction = ""] = found ?? [];
  const at = new Date(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}${fraction.slice(0, 4)}Z`);
  if (!found || Number.isNaN(at.getTime())) throw new StampFailed("its token has no time");
  return at;
}
