import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decompressBody } from "../../../packages/service/src/hooks/decode-body.ts";

const text = Buffer.from('{"a": "grüß"}');

describe("a body with a content-encoding", () => {
  it.each([
    ["gzip", gzipSync(text)],
    ["X-GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", text],
    ["", text],
  ])("%s is decoded", (encoding, bytes) => {
    expect(decompressBody(bytes, encoding)).toEqual(text);
  });

  it.each([
    ["zstd", text, /content-encoding "zstd" is not known - send gzip, deflate, br or none/],
    ["gzip, gzip", gzipSync(gzipSync(text)), /"gzip, gzip" is not known/],
    ["gzip", text, /is not encoded as "gzip" says - correct it/],
    ["br", gzipSync(text), /is not encoded as "br" says/],
    ["gzip", gzipSync(text).subarray(0, 20), /is not encoded as "gzip" says/],
    ["gzip", gzipSync(Buffer.alloc(100 * 1024 * 1024)), /more than 4194304 bytes once decoded - send less/],
  ])("%s is refused if it cannot be decoded", (encoding, bytes, message) => {
    expect(() => decompressBody(bytes, encoding)).toThrow(message);
  });
});
