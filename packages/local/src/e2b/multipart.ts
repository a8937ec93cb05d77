import { Refusal } from "./http.ts";

/** One part of a form; its body must be read to the end before the next part is asked for. */
export type Part = { name: string; filename: string | undefined; body: AsyncIterable<Buffer> };

const MAX_HEADER_BYTES = 16 * 1024;

/** Reads multipart/form-data as it comes in: a part is never held in memory, however large it is. */
export async function* readMultipart(contentType: string, source: AsyncIterable<Buffer>): AsyncGenerator<Part> {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (!boundary) throw new Refusal(400, "error parsing multipart form: the content type names no boundary");
  const scanner = new Scanner(source);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  scanner.pushBack(Buffer.from("\r\n")); // the first delimiter has no line before it
  for await (const _ of scanner.upTo(delimiter)); // a preamble means nothing
  while ((await scanner.take(2)).toString() === "\r\n") {
    const headers = await scanner.textUpTo(Buffer.from("\r\n\r\n"));
    const disposition = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? "";
    const body = scanner.upTo(delimiter);
    yield { name: field(disposition, "name") ?? "", filename: field(disposition, "filename"), body };
    for await (const _ of body); // what the consumer left
  }
}

function field(disposition: string, name: string): string | undefined {
  return new RegExp(`[;\\s]${name}="([^"]*)"`, "i").exec(disposition)?.[1];
}

class Scanner {
  #source: AsyncIterator<Buffer>;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  pushBack(bytes: Buffer) {
    this.#buffer = Buffer.concat([bytes, this.#buffer]);
  }

  /** Yields everything before the delimiter, and steps over it. */
  async *upTo(delimiter: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#buffer.indexOf(delimiter);
      if (at >= 0) {
        const found = this.#buffer.subarray(0, at);
        this.#buffer = this.#buffer.subarray(at + delimiter.length);
        if (found.length > 0) yield found;
        return;
      }
      const safe = Math.max(0, this.#buffer.length - delimiter.length + 1);
      const ready = this.#buffer.subarray(0, safe);
      this.#buffer = this.#buffer.subarray(safe);
      if (ready.length > 0) yield ready;
      await this.#more();
    }
  }

  async textUpTo(delimiter: Buffer): Promise<string> {
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of this.upTo(delimiter)) {
      bytes += part.length;
      if (bytes > MAX_HEADER_BYTES) throw new Refusal(400, "error reading form: the headers of a part are too long");
      parts.push(part);
    }
    return Buffer.concat(parts).toString("utf8");
  }

  async take(size: number): Promise<Buffer> {
    while (this.#buffer.length < size) await this.#more();
    const taken = this.#buffer.subarray(0, size);
    this.#buffer = this.#buffer.subarray(size);
    return taken;
  }

  async #more() {
    const next = await this.#source.next();
    if (next.done) throw new Refusal(400, "error reading form: it ends in the middle of a part");
    this.#buffer = this.#buffer.length === 0 ? next.value : Buffer.concat([this.#buffer, next.value]);
  }
}
