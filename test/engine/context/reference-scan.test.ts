import fc from "fast-check";
import { expect, it } from "vitest";
import {
  escapeReferences,
  ReferenceScan,
  referencesIn,
  referenceText,
} from "../../../packages/engine/src/context/references.ts";
import type { BlobRef } from "../../../packages/engine/src/ports/blobs.ts";

const ref: BlobRef = { sha256: "ab".repeat(32), bytes: 7, type: "text" };

/** Scans chunks of `size` bytes in one reused buffer, so the scanner must copy the bytes that it keeps. */
function scan(text: string, size: number): BlobRef[] {
  const bytes = Buffer.from(text);
  const chunk = Buffer.alloc(size);
  const found = new ReferenceScan();
  for (let at = 0; at < bytes.length; at += size) found.look(chunk.subarray(0, bytes.copy(chunk, 0, at)));
  return found.found;
}

it.each([
  ["compact", referenceText(ref)],
  ["as Python writes it", `{"$blob": {"sha256": "${ref.sha256}", "bytes": 7, "type": "text"}}`],
])("the scan finds a reference for all chunk sizes: %s", (_how, reference) => {
  const text = `[{"é": ${reference}}, "x"]`;
  for (let size = 1; size < text.length; size++) expect(scan(text, size), `in chunks of ${size}`).toEqual([ref]);
});

it.each([
  ["text that quotes one", JSON.stringify([referenceText(ref)])],
  ["a key that ends like the mark", `{"a\\"$blob":{"sha256":"${ref.sha256}","bytes":7,"type":"text"}}`],
  ["the mark beside other keys", `{"$blob":{"sha256":"${ref.sha256}","bytes":7,"type":"text"},"x":1}`],
  ["escaped data of a client", escapeReferences(referenceText(ref))],
])("the scan treats %s as data", (_what, text) => {
  expect(scan(text, 64)).toEqual([]);
});

it("the scan finds the same references as a parser in any JSON text", () => {
  const key = fc.constantFrom("$blob", "$$blob", 'x"$blob', "a");
  const leaf = fc.constantFrom(JSON.parse(referenceText(ref)), referenceText(ref), '"$blob":{', "{", 1);
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ withCrossShrink: true }, leaf, fc.array(tie("tree")), fc.dictionary(key, tie("tree"))),
  }));
  fc.assert(
    fc.property(tree, fc.integer({ min: 1, max: 300 }), (value, size) => {
      const text = JSON.stringify(value);
      expect(scan(text, size)).toEqual(referencesIn(text).slice(0, 1));
    }),
  );
});
