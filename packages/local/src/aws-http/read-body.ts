import type { IncomingMessage } from "node:http";

/**
 * The body of a request; undefined where it has more bytes than it may, or says so. Nothing beyond that is kept, and the
 * rest is read and dropped, so that the sender hears the answer. By its events: an async iterator costs as much as an
 * operation of DynamoDB does.
 */
export function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    const tooMuch = () => {
      chunks = [];
      message.off("data", take).resume();
      resolve(undefined);
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) tooMuch();
      else chunks.push(chunk);
    };
    if (Number(message.headers["content-length"] ?? 0) > maxBytes) return tooMuch();
    message.on("data", take);
    message.on("error", reject);
    message.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
  });
}
