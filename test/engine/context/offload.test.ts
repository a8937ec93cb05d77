import type { BlobRef } from "@nova/engine";
import { expect, it } from "vitest";
import { leafLimitBytes, offloadLargeValues, valueLimitBytes } from "../../../packages/engine/src/context/offload.ts";
import { referencesIn } from "../../../packages/engine/src/context/references.ts";

async function offloaded(text: string) {
  const blobs: { ref: BlobRef; text: string }[] = [];
  const slim = await offloadLargeValues(text, async (ref, body) => void blobs.push({ ref, text: String(body) }));
  expect(referencesIn(slim)).toEqual(blobs.filter(({ ref }) => slim.includes(ref.sha256)).map(({ ref }) => ref));
  return { slim, blobs };
}

const large = "é".repeat(leafLimitBytes / 2 + 1);

it.each(["850.0", '{ "a" : 12345678901234567890 }', `"${"x".repeat(leafLimitBytes - 2)}"`])(
  "offloading leaves a small value unchanged: %.40s",
  async (text) => {
    expect(await offloaded(text)).toEqual({ slim: text, blobs: [] });
  },
);

it("offloading moves a large leaf at any depth, and keeps the digits around it", async () => {
  const { slim, blobs } = await offloaded(
    `{"n":850.0,"list":[{"body":${JSON.stringify(large)}},12345678901234567890]}`,
  );
  expect(blobs).toEqual([{ ref: expect.objectContaining({ type: "text", bytes: leafLimitBytes + 2 }), text: large }]);
  expect(slim).toMatch(/^{"n":850\.0,"list":\[{"body":{"\$blob":{.*}}},12345678901234567890\]}$/);
});

it("offloading moves a large value without a large leaf as a whole, and keeps its digits", async () => {
  const rows = `[${Array.from({ length: 2000 }, (_, i) => `${i}.50`).join(",")}]`;
  const { slim, blobs } = await offloaded(rows);
  expect(blobs).toEqual([{ ref: expect.objectContaining({ type: "json" }), text: rows }]);
  expect(slim.length).toBeLessThan(200);
});

it("offloading keeps the inline part below the limit, with blobs for leaves and for the whole value", async () => {
  const value = { letter: large, rows: Array.from({ length: 2000 }, (_, i) => `row ${i}`) };
  const { slim, blobs } = await offloaded(JSON.stringify(value));
  expect(slim.length).toBeLessThan(valueLimitBytes);
  expect(blobs.map(({ ref }) => ref.type)).toEqual(["text", "json"]);
  expect(referencesIn(blobs[1]?.text ?? "")).toEqual([blobs[0]?.ref]);
});

it("offloading parses strings correctly: keys stay, escapes are decoded, and quotes inside do not end them", async () => {
  const tricky = `${"\\\\"}"${"x".repeat(leafLimitBytes)}`;
  const text = JSON.stringify({ ["k".repeat(leafLimitBytes + 10)]: [tricky, "\\"], n: 1 });
  const { slim, blobs } = await offloaded(text);
  expect(blobs[0]).toMatchObject({ ref: { type: "text" }, text: tricky });
  expect(JSON.parse(slim)[`${"k".repeat(leafLimitBytes + 10)}`][1]).toBe("\\");
});

it("offloading keeps half a surrogate pair inline, because a UTF-8 blob cannot hold it", async () => {
  const text = `"${"x".repeat(2 * valueLimitBytes)}\\ud800"`;
  const { blobs } = await offloaded(text);
  expect(blobs).toEqual([{ ref: expect.objectContaining({ type: "json" }), text }]);
});
