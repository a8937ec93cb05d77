import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeChunks } from "../../../../packages/aws-local/src/s3/body/aws-chunked.ts";

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function decode(encoded: Buffer | string, size = 7) {
  const trailers = new Map<string, string>();
  const chunks = await Array.fromAsync(decodeChunks(pieces(Buffer.from(encoded), size), trailers));
  return { body: Buffer.concat(chunks), trailers };
}

function encode(chunks: Uint8Array[], trailer = ""): Buffer {
  const framed = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...framed, Buffer.from(`0\r\n${trailer}\r\n`)]);
}

test("a body in the encoding aws-chunked is read without its framing, even if the network splits the body at any byte", async () => {
  const chunk = fc.uint8Array({ minLength: 1, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 5 }), fc.integer({ min: 1, max: 50 }), async (chunks, size) => {
      const { body, trailers } = await decode(encode(chunks, "x-amz-checksum-crc32:AAAA\r\n"), size);
      expect(body.equals(Buffer.concat(chunks))).toBe(true);
      expect([...trailers]).toEqual([["x-amz-checksum-crc32", "AAAA"]]);
    }),
  );
});

test("a body in the encoding aws-chunked may have signed chunks, and trailers with spaces", async () => {
  const { body, trailers } = await decode(
    "3;chunk-signature=ab12\r\nabc\r\n0;chunk-signature=cd34\r\nX-Amz-Checksum-Sha256: x=\r\nx-amz-trailer-signature:y\r\n\r\n",
  );
  expect(body.toString()).toBe("abc");
  expect(trailers.get("x-amz-checksum-sha256")).toBe("x=");
});

test.each([
  ["ends in a chunk", "5\r\nabc"],
  ["ends between chunks", "3\r\nabc\r\n"],
  ["has a chunk longer than its size", "2\r\nabc\r\n0\r\n\r\n"],
  ["has no sizes", "hello\r\nabc\r\n0\r\n\r\n"],
  ["is one endless line", "f".repeat(10_000)],
])("a body in the encoding aws-chunked is refused if it %s", async (_, encoded) => {
  await expect(decode(encoded)).rejects.toMatchObject({ name: "IncompleteBody" });
});
