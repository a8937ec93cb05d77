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
  ["as many items as fit into the history of Step Functions", 3, { inline_items: 3 }],
  ["no items", 0, { inline_items: 0 }],
  ["all items of a map in a map, whatever their number", 30_000, {}],
])("the result of a map for Step Functions lists the numbers of its items: %s", async (_name, count, event) => {
  const { answer, state } = asked(count, event);
  expect(await answer()).toEqual({ count, distributed: false, items: numbers(count) });
  expect(state.puts).toBe(0);
});

it("the result of a map for Step Functions says where in S3 the numbers of its items are if there are too many", async () => {
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
  ["a node that is not a map", {}],
])("the result for Step Functions contains no numbers of items for %s", async (_name, fields) => {
  const blobs = new BlobState().port(atOnce);
  expect(await itemsAnswer({ blobs }, headWith(fields), { inline_items: 0 })).toBeUndefined();
});

it("a map accepts more items if each item runs in a separate execution", () => {
  expect([maxItems({}), maxItems({ inline_items: 3 }), maxItems({ most_items: 900 })]).toEqual([40_000, 80_000, 900]);
});
