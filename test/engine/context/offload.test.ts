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
  "leaves what is small as it is: %.40s",
  async (text) => {
    expect(await offloaded(text)).toEqual({ slim: text, blobs: [] });
  },
);

it("moves a large leaf, wherever it is, and keeps the digits around it", async () => {
  const { slim, blobs } = await offloaded(
    `{"n":850.0,"list":[{"body":${JSON.stringify(large)}},12345678901234567890]}`,
  );
  expect(blobs).toEqual([{ ref: expect.objectContaining({ type: "text", bytes: leafLimitBytes + 2 }), text: large }]);
  expect(slim).toMatch(/^{"n":850\.0,"list":\[{"body":{"\$blob":{.*}}},12345678901234567890\]}$/);
});

it("moves a value that is large without a large leaf as a whole, its digits kept", async () => {
  const rows = `[${Array.from({ length: 2000 }, (_, i) => `${i}.50`).join(",")}]`;
  const { slim, blobs } = await offloaded(rows);
  expect(blobs).toEqual([{ ref: expect.objectContaining({ type: "json" }), text: rows }]);
  expect(slim.length).toBeLessThan(200);
});

it("leaves at most the limit inline, with leaves and whole in blobs of their own", async () => {
  const value = { letter: large, rows: Array.from({ length: 2000 }, (_, i) => `row ${i}`) };
  const { slim, blobs } = await offloaded(JSON.stringify(value));
  expect(slim.length).toBeLessThan(valueLimitBytes);
  expect(blobs.map(({ ref }) => ref.type)).toEqual(["text", "json"]);
  expect(referencesIn(blobs[1]?.text ?? "")).toEqual([blobs[0]?.ref]);
});

it("takes strings for what they are: keys stay, escapes are undone, quotes inside do not end them", async () => {
  const tricky = `${"\\\\"}"${"x".repeat(leafLimitBytes)}`;
  const text = JSON.stringify({ ["k".repeat(leafLimitBytes + 10)]: [tricky, "\\"], n: 1 });
  const { slim, blobs } = await offloaded(text);
  expect(blobs[0]).toMatchObject({ ref: { type: "text" }, text: tricky });
  expect(JSON.parse(slim)[`${"k".repeat(leafLimitBytes + 10)}`][1]).toBe("\\");
});

it("keeps half a character, which no UTF-8 blob could hold", async () => {
  const text = `"${"x".repeat(2 * valueLimitBytes)}\\ud800"`;
  const { blobs } = await offloaded(text);
  expect(blobs).toEqual([{ ref: expect.objectContaining({ type: "json" }), text }]);
});
