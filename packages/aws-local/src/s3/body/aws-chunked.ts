import { S3Error } from "../errors.ts";

/**
 * Headers that the client sends after the last chunk, such as `x-amz-checksum-crc32`. They are complete only when the
 * body has been read to its end.
 */
export type Trailers = Map<string, string>;

/**
 * The longest line between chunks. Such a line has the size in a few hex digits and at most a signature, so a longer
 * line is invalid.
 */
const maxLine = 4096;
/** The largest number of trailers that a body may have. The SDKs send one or two. */
const maxTrailers = 32;

/**
 * Removes the framing of `Content-Encoding: aws-chunked`: each chunk is `<hex>[;chunk-signature=...]\r\n<data>\r\n`,
 * and the body ends with `0\r\n<trailers>\r\n`. The SDKs stream a body this way if they know its checksum only at the
 * end.
 */
export async function* decodeChunks(body: AsyncIterable<Buffer>, trailers: Trailers): AsyncGenerator<Buffer> {
  const reader = new LineReader(body);
  for (;;) {
    const line = await reader.line();
    const size = Number.parseInt(line, 16);
    if (!/^[0-9a-f]+(;.*)?$/i.test(line)) throw new S3Error("IncompleteBody", "A chunk has no size.");
    if (size === 0) break;
    yield* reader.take(size);
    if ((await reader.line()) !== "") throw new S3Error("IncompleteBody", "A chunk is longer than its size.");
  }
  for (let line = await reader.lineOrEnd(); line; line = await reader.lineOrEnd()) {
    if (trailers.size >= maxTrailers) throw new S3Error("IncompleteBody", "There are too many trailers.");
    const colon = line.indexOf(":");
    trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
}

/** Reads lines and given numbers of bytes from a stream whose chunks may begin and end at any byte. */
class LineReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(body: AsyncIterable<Buffer>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    const line = await this.lineOrEnd();
    if (line === undefined) throw new S3Error("IncompleteBody", "The body ends in the middle of its chunks.");
    return line;
  }

  async lineOrEnd(): Promise<string | undefined> {
    let end = this.#rest.indexOf("\r\n");
    while (end < 0) {
      if (this.#rest.length > maxLine) throw new S3Error("IncompleteBody", "A line between chunks is too long.");
      if (!(await this.#more())) return undefined;
      end = this.#rest.indexOf("\r\n");
    }
    const line = this.#rest.toString("latin1", 0, end);
    this.#rest = this.#rest.subarray(end + 2);
    return line;
  }

  async *take(bytes: number): AsyncGenerator<Buffer> {
    for (let missing = bytes; missing > 0; ) {
      if (this.#rest.length === 0 && !(await this.#more())) {
        throw new S3Error("IncompleteBody", "The body ends in the middle of a chunk.");
      }
      const piece = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(piece.length);
      missing -= piece.length;
      yield piece;
    }
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    if (done) return false;
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    return true;
  }
}
