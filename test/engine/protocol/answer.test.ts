import { expect, it } from "vitest";
import type { Head } from "../../../packages/engine/src/chain/entry.ts";
import { itemsAnswer, maxItems } from "../../../packages/engine/src/protocol/answer.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { BlobState } from "../../support/engine/stores.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const headWith = (fields: Partial<Head>) => ({ client: "c", root: "r", status: "success", ...fields }) as Head;

function asked(count: number, event: { inline_items?: number }) {
  const state = new BlobState();
  return { state, answer: () => itemsAnswer({ blobs: state.port(atOnce) }, headWith({ count }), event) };
}

it.each([
  ["as many as the history has room for", 3, { inline_items: 3 }],
  ["none at all", 0, { inline_items: 0 }],
  ["those of a map in a map, whatever their number", 30_000, {}],
])("the answer of a map lists the item numbers: %s", async (_name, count, event) => {
  const { answer, state } = asked(count, event);
  expect(await answer()).toEqual({ count, distributed: false, items: numbers(count) });
  expect(state.puts).toBe(0);
});

it("the answer of a map says where in S3 the item numbers are if there are too many", async () => {
  const { answer, state } = asked(4, { inline_items: 3 });
  const first = await answer();
  const [key, body] = [...state.blobs][0] ?? [];
  expect(first).toEqual({ count: 4, distributed: true, manifest: { bucket: "memory", key } });
  expect(Buffer.from(body ?? []).toString()).toBe("[0,1,2,3]");
  expect(await answer()).toEqual(first);
  expect(state.blobs.size).toBe(1);
});

it.each<[string, Partial<Head>]>([
  ["a map that failed", { count: 1, status: "failed" }],
  ["any other node", {}],
])("an answer has no item numbers for %s", async (_name, fields) => {
  const blobs = new BlobState().port(atOnce);
  expect(await itemsAnswer({ blobs }, headWith(fields), { inline_items: 0 })).toBeUndefined();
});

it("a map takes more items if each of them is an execution of its own", () => {
  expect([maxItems({}), maxItems({ inline_items: 3 }), maxItems({ most_items: 900 })]).toEqual([40_000, 80_000, 900]);
});
