import { BlobMissing, type BlobRef, RawJson } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { cancel, wholeContext } from "../../../packages/service/src/executions/executions.ts";
import { ann, ErasureWorld } from "../support/erasing-world.ts";

const home = { client: "acme", root: "exec_1" };
const stored = new Map<string, string>();
const blobs = {
  async get(of: object, sha256: string) {
    expect(of).toEqual(home);
    const text = stored.get(sha256);
    if (text === undefined) throw new BlobMissing("erased");
    return Buffer.from(text);
  },
};

let next = 0;
/** Returns the text of a reference to a blob with this content. */
function reference(type: BlobRef["type"], content: string): string {
  const sha256 = String(next++).padStart(64, "0");
  stored.set(sha256, content);
  return JSON.stringify({ $blob: { sha256, bytes: Buffer.byteLength(content), type } });
}

const whole = async (text: string) => (await wholeContext({ blobs: blobs as never }, home, new RawJson(text))).text;

describe("a context with references to blobs", () => {
  it("gets the texts and JSON of the blobs in place of the references, with exact numbers", async () => {
    const inside = reference("text", 'a "text"');
    const json = reference("json", `{"n":850.0,"deep":[${inside}]}`);
    expect(await whole(`{"a": 1.50,"b":${json}}`)).toBe('{"a":1.50,"b":{"n":850.0,"deep":["a \\"text\\""]}}');
  });

  it("is returned unchanged if it contains no reference", async () => {
    expect(await whole('{ "a" : 1.50 }')).toBe('{ "a" : 1.50 }');
  });

  it("keeps references to bytes, erased values and oversized values", async () => {
    const bytes = reference("bytes", "raw");
    const erased = reference("text", "gone");
    stored.delete(/[0-9]{64}/.exec(erased)?.[0] ?? "");
    const large = reference("text", "x".repeat(4 * 1024 * 1024));
    const small = reference("text", "small");
    const text = `{"bytes":${bytes},"erased":${erased},"large":${large},"small":${small}}`;
    expect(await whole(text)).toBe(text.replace(small, '"small"'));
  });

  it("gets as many values as fit into a response of the API, in the order of the references", async () => {
    const half = reference("text", "x".repeat(3 * 1024 * 1024));
    const { a, b } = JSON.parse(await whole(`{"a":${half},"b":${half}}`));
    expect([a.length, b.$blob.bytes]).toEqual([3 * 1024 * 1024, 3 * 1024 * 1024]);
  });
});

it("a request to cancel a run is answered in time even if the close of the run takes long, and the close continues", async () => {
  const world = new ErasureWorld();
  await world.publish("report", []);
  const id = await world.begin();
  const ports = world.service();
  const slow = Promise.withResolvers<void>();
  const { putEntry } = ports.chain;
  ports.chain = { ...ports.chain, putEntry: (at, entry) => slow.promise.then(() => putEntry(at, entry)) };
  const waited: number[] = [];
  const timeout = (ms: number) => {
    waited.push(ms);
    return AbortSignal.timeout(1);
  };
  expect(await cancel({ ...ports, timer: { timeout } }, ann, id)).toEqual({ status: "running" });
  expect(waited).toEqual([15_000]);
  slow.resolve();
  await expect.poll(async () => (await ports.executions.get(id))?.status).toBe("cancelled");
  expect(await cancel(ports, ann, id)).toMatchObject({ status: "cancelled" });
});
