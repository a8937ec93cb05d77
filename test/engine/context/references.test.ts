import type { BlobRef } from "@nova/engine";
import { RawJson } from "@nova/workflow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  asWritten,
  escapeReferences,
  leafLimitBytes,
  offloadLargeValues,
  ReferenceScan,
  referencesIn,
  referenceText,
  valueLimitBytes,
} from "../../../packages/engine/src/context/references.ts";

const ref = { sha256: "ab".repeat(32), bytes: 7, type: "text" } as const;
const reference = referenceText(ref);

it("referencesIn finds every reference in a value", () => {
  expect(referencesIn(`{"a":[${reference}],"b":{"c":${reference}},"d":1}`)).toEqual([ref, ref]);
});

it.each([
  ["another key beside the key `$blob`", `{"$blob":${JSON.stringify(ref)},"x":1}`],
  ["no hash in the object of `$blob`", '{"$blob":{"sha256":"ab","bytes":7,"type":"text"}}'],
  ["no length in the object of `$blob`", `{"$blob":{"sha256":"${ref.sha256}","type":"text"}}`],
  ["an unknown type in the object of `$blob`", `{"$blob":{"sha256":"${ref.sha256}","bytes":7,"type":"code"}}`],
  ["null in place of the object of `$blob`", '{"$blob":null}'],
  ["the text `$blob`", '["$blob"]'],
])("referencesIn finds no reference to a blob in a value with %s", (_what, text) => {
  expect(referencesIn(text)).toEqual([]);
});

describe("a stored value that is shown to people", () => {
  const read = (text: string) => asWritten({ context: new RawJson(text) }).context.text;

  it.each([
    ['{"$$blob":1,"n":850.0}', '{"$blob":1,"n":850.0}'],
    ['[{"$$$blob":{"$$blob":12345678901234567890}}]', '[{"$$blob":{"$blob":12345678901234567890}}]'],
    [`{"a":${reference}}`, `{"a":${reference}}`],
  ])("has the original keys of the client, without added $ signs: %s", (stored, written) => {
    expect(read(stored)).toBe(written);
  });

  it.each(["$blob", "$$blob"])(
    "keeps the escaped form of the key %s if the client's data look like a reference",
    (key) => {
      const stored = escapeReferences(JSON.stringify({ a: { [key]: ref } }));
      expect(read(stored)).toBe(stored);
    },
  );

  it("has no reference to a blob if its data only look like a reference, and different values are shown differently", () => {
    const { tree } = trees();
    fc.assert(
      fc.property(tree, tree, (one, other) => {
        const [a, b] = [one, other].map((value) => JSON.stringify(value)) as [string, string];
        expect(referencesIn(read(escapeReferences(a)))).toEqual([]);
        expect(read(escapeReferences(a)) === read(escapeReferences(b))).toBe(a === b);
      }),
    );
  });
});

function trees() {
  const key = fc.constantFrom("$blob", "$$blob", "a");
  return fc.letrec((tie) => ({
    tree: fc.oneof(
      { withCrossShrink: true },
      fc.constant(JSON.parse(reference)),
      fc.array(tie("tree")),
      fc.dictionary(key, tie("tree")),
    ),
  }));
}

describe("escapeReferences", () => {
  it.each([
    ['{"$blob":1}', '{"$$blob":1}'],
    ['{"$$blob":{"$blob":850.0}}', '{"$$$blob":{"$$blob":850.0}}'],
    ['[{"\\u0024bl\\u006fb":12345678901234567890}]', '[{"$$blob":12345678901234567890}]'],
  ])("turns %s into %s", (text, escaped) => {
    expect(escapeReferences(text)).toBe(escaped);
  });

  it.each(['{"a": 850.0}', '{"blob":1}', '["$blob"]', '{"x$blob":1 }', '"\\u00e9"'])("leaves %s unchanged", (text) => {
    expect(escapeReferences(text)).toBe(text);
  });

  it("leaves no reference to a blob in the JSON of a client", () => {
    const { tree } = trees();
    fc.assert(
      fc.property(tree, (value) => {
        expect(referencesIn(escapeReferences(JSON.stringify(value)))).toEqual([]);
      }),
    );
  });
});

async function offloaded(text: string) {
  const blobs: { ref: BlobRef; text: string }[] = [];
  const slim = await offloadLargeValues(text, async (ref, body) => void blobs.push({ ref, text: String(body) }));
  expect(referencesIn(slim)).toEqual(blobs.filter(({ ref }) => slim.includes(ref.sha256)).map(({ ref }) => ref));
  return { slim, blobs };
}

const large = "é".repeat(leafLimitBytes / 2 + 1);

it.each(["850.0", '{ "a" : 12345678901234567890 }', `"${"x".repeat(leafLimitBytes - 2)}"`])(
  "offloadLargeValues does not change a small value: %.40s",
  async (text) => {
    expect(await offloaded(text)).toEqual({ slim: text, blobs: [] });
  },
);

it("offloadLargeValues moves a long string at any depth to a blob, and keeps all digits of numbers", async () => {
  const { slim, blobs } = await offloaded(
    `{"n":850.0,"list":[{"body":${JSON.stringify(large)}},12345678901234567890]}`,
  );
  expect(blobs).toEqual([{ ref: expect.objectContaining({ type: "text", bytes: leafLimitBytes + 2 }), text: large }]);
  expect(slim).toMatch(/^{"n":850\.0,"list":\[{"body":{"\$blob":{.*}}},12345678901234567890\]}$/);
});

it("offloadLargeValues moves a large value without long strings to a blob, with all digits of numbers", async () => {
  const rows = `[${Array.from({ length: 2000 }, (_, i) => `${i}.50`).join(",")}]`;
  const { slim, blobs } = await offloaded(rows);
  expect(blobs).toEqual([{ ref: expect.objectContaining({ type: "json" }), text: rows }]);
  expect(slim.length).toBeLessThan(200);
});

it("offloadLargeValues keeps the text that remains outside blobs below the limit, by moving long strings or the whole value", async () => {
  const value = { letter: large, rows: Array.from({ length: 2000 }, (_, i) => `row ${i}`) };
  const { slim, blobs } = await offloaded(JSON.stringify(value));
  expect(slim.length).toBeLessThan(valueLimitBytes);
  expect(blobs.map(({ ref }) => ref.type)).toEqual(["text", "json"]);
  expect(referencesIn(blobs[1]?.text ?? "")).toEqual([blobs[0]?.ref]);
});

it("offloadLargeValues recognises strings correctly: keys stay, escapes are decoded, and escaped quotes do not end a string", async () => {
  const tricky = `${"\\\\"}"${"x".repeat(leafLimitBytes)}`;
  const text = JSON.stringify({ ["k".repeat(leafLimitBytes + 10)]: [tricky, "\\"], n: 1 });
  const { slim, blobs } = await offloaded(text);
  expect(blobs[0]).toMatchObject({ ref: { type: "text" }, text: tricky });
  expect(JSON.parse(slim)[`${"k".repeat(leafLimitBytes + 10)}`][1]).toBe("\\");
});

it("offloadLargeValues leaves a string with half a surrogate pair in place, because a UTF-8 blob cannot hold it", async () => {
  const text = `"${"x".repeat(2 * valueLimitBytes)}\\ud800"`;
  const { blobs } = await offloaded(text);
  expect(blobs).toEqual([{ ref: expect.objectContaining({ type: "json" }), text }]);
});

/**
 * Scans a text in chunks of `size` bytes that share one buffer. The scanner must therefore copy the bytes that it
 * keeps.
 */
function scan(text: string, size: number): BlobRef[] {
  const bytes = Buffer.from(text);
  const chunk = Buffer.alloc(size);
  const found = new ReferenceScan();
  for (let at = 0; at < bytes.length; at += size) found.look(chunk.subarray(0, bytes.copy(chunk, 0, at)));
  return found.found;
}

it.each([
  ["written compactly", referenceText(ref)],
  ["written as Python writes JSON", `{"$blob": {"sha256": "${ref.sha256}", "bytes": 7, "type": "text"}}`],
])(
  "the scan for references to blobs finds a reference, however the text is split into chunks: %s",
  (_how, reference) => {
    const text = `[{"é": ${reference}}, "x"]`;
    for (let size = 1; size < text.length; size++) expect(scan(text, size), `in chunks of ${size}`).toEqual([ref]);
  },
);

it.each([
  ["a text that quotes a reference", JSON.stringify([referenceText(ref)])],
  ["a key that ends with `$blob`", `{"a\\"$blob":{"sha256":"${ref.sha256}","bytes":7,"type":"text"}}`],
  ["the key `$blob` beside other keys", `{"$blob":{"sha256":"${ref.sha256}","bytes":7,"type":"text"},"x":1}`],
  ["data of a client whose key `$blob` is escaped", escapeReferences(referenceText(ref))],
])("the scan for references to blobs finds no reference in %s", (_what, text) => {
  expect(scan(text, 64)).toEqual([]);
});

it("the scan for references to blobs finds the same references as a JSON parser does", () => {
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
