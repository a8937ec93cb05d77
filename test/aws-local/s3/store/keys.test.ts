import { isAbsolute, normalize } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { keyPart, keyPath, prefixFolder } from "../../../../packages/aws-local/src/s3/store/keys.ts";

const segment = fc.oneof(
  fc.constantFrom("", ".", "..", "a", "A", "a$", "a~", "%", "^a", "con", "x".repeat(400), `x${"é".repeat(200)}`),
  fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("/", "")),
);
const key = fc
  .array(segment, { minLength: 1, maxLength: 5 })
  .map((segments) => segments.join("/"))
  .filter((text) => text !== "" && text.isWellFormed());

test("every S3 key has its own file path inside the bucket, and the path can be decoded to the key", () => {
  fc.assert(
    fc.property(key, (one) => {
      const path = keyPath(one);
      const parts = path.split("/").map(keyPart);
      expect(parts.map(({ text }) => text).join("")).toBe(one);
      expect(parts.map(({ isObject }) => isObject)).toEqual(parts.map((_, index) => index === parts.length - 1));
      expect(normalize(path)).toBe(path);
      expect(isAbsolute(path) || path.split("/").includes("..")).toBe(false);
      expect(Math.max(...path.split("/").map((name) => Buffer.byteLength(name)))).toBeLessThan(255);
    }),
    { numRuns: 1000 },
  );
});

test("the file paths of two S3 keys differ even on a disk that ignores case, if the keys differ only in case", () => {
  fc.assert(
    fc.property(key, key, (one, other) => {
      fc.pre(one !== other);
      expect(keyPath(one).toLowerCase().normalize("NFC")).not.toBe(keyPath(other).toLowerCase().normalize("NFC"));
    }),
  );
});

test("the file path of a readable S3 key is readable", () => {
  expect(keyPath("blobs/acme/exec_01J/ab.txt")).toBe("blobs/acme/exec_01^j/ab.txt$");
});

test.each([
  ["", ""],
  ["a", ""],
  ["a/", "a"],
  ["a/b", "a"],
  ["a/../b/c", "a/%2e./b"],
])("all S3 keys with the prefix %j are below the folder %j", (prefix, folder) => {
  expect(prefixFolder(prefix).replace(/^\.$/, "")).toBe(folder);
});
