import { type BlobHome, BlobMismatch, type BlobStore } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/head.ts";
import { offloadLargeValues } from "../../../packages/engine/src/context/offload.ts";
import { loadStored } from "../../../packages/engine/src/context/pages.ts";
import { referencesIn } from "../../../packages/engine/src/context/references.ts";
import type { StoredEntry } from "../../../packages/engine/src/ports/chain.ts";
import { sha256 } from "../../../packages/engine/src/sha256.ts";
import { NamedBlobs } from "../../../packages/engine/src/trace/named-blobs.ts";
import { action, flow } from "../../support/engine/flows.ts";
import { Story, succeeds } from "../../support/engine/story.ts";

const workflow = flow(
  "named",
  [action("a"), action("b")],
  [
    ["start", "a"],
    ["a", "b"],
    ["b", "end"],
  ],
);
const deepText = "deep".repeat(2000);
const large = JSON.stringify({ rows: Array.from({ length: 2000 }, (_, n) => n), text: deepText });

/** Link 0 has a large value in blobs, link 1 a page in its context, link 2 long logs. */
async function story(): Promise<Story> {
  const made = succeeds("a", `"${"x".repeat(4000)}"`);
  const talks = succeeds("b", "1");
  const b = { ...talks, result: { ...talks.result, logs: "l".repeat(9000) } } as typeof talks;
  const told = await new Story(workflow, { a: [made], b: [b] }).start(`{"big":${large},"n":"${"y".repeat(3000)}"}`);
  await told.everything();
  return told;
}

const entryAt = (told: Story, seq: number) =>
  told.world.chain.at({ execution: told.id, scope: "", seq }).entry as StoredEntry;
const storedAt = (told: Story, seq: number) => {
  const { context } = entryAt(told, seq).contents;
  return loadStored(context && "text" in context ? context.text : "");
};
const bigOf = (told: Story) => {
  const [, , json = ""] = storedAt(told, 0).inline.find(([key]) => key === "big") ?? [];
  return referencesIn(json)[0]?.sha256 ?? "no blob";
};
const logsOf = (told: Story) => headOf(entryAt(told, 2)).digests.logs ?? "no logs";
const pageOf = (told: Story) => storedAt(told, 1).pages[0]?.sha256 ?? "no page";

const changeByte = (told: Story, blob: string) => {
  const key = blobKey(told, blob);
  const bytes = Buffer.from(told.world.blobs.blobs.get(key) as Uint8Array);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  told.world.blobs.blobs.set(key, bytes);
};
const deleteBlob = (told: Story, blob: string) => {
  expect(told.world.blobs.blobs.delete(blobKey(told, blob))).toBe(true);
};
const blobKey = (told: Story, blob: string) =>
  Array.from(told.world.blobs.blobs.keys()).find((key) => key.endsWith(blob)) ?? "none";

describe("a blob that an entry names", () => {
  it.each<[string, (told: Story) => string, number, string | undefined, string]>([
    ["a value", bigOf, 0, "big", 'context["big"]'],
    ["a text inside a large value", () => sha256(deepText), 0, "big", 'context["big"]'],
    ["a page of the context", pageOf, 1, undefined, "a page of its context"],
    ["logs", logsOf, 2, undefined, "its logs"],
  ])("breaks the chain when it was changed or is missing: %s", async (_what, blobOf, seq, key, place) => {
    for (const [tamper, what] of [
      [changeByte, "was changed: its bytes have another SHA-256"],
      [deleteBlob, "is missing"],
    ] as const) {
      const told = await story();
      expect(await told.verify()).toMatchObject({ state: "anchored" });
      const blob = blobOf(told);
      tamper(told, blob);
      const { state, problem } = await told.verify();
      const message = `${place}: blob ${blob} ${what}`;
      expect({ state, problem }).toEqual({ state: "broken", problem: { seq, message, ...(key && { key }), blob } });
    }
  });

  it("is read once, however many entries name it", async () => {
    const told = await story();
    const reads: string[] = [];
    const blobs = told.world.blobs;
    const get = blobs.blobs.get.bind(blobs.blobs);
    blobs.blobs.get = (key) => {
      reads.push(key);
      return get(key);
    };
    await told.verify();
    expect(reads.toSorted()).toEqual(Array.from(blobs.blobs.keys()).toSorted());
  });
});

describe("the definition that link 0 names, and the code that entries ran", () => {
  it.each<[string, (told: Story) => void, RegExp]>([
    [
      "is another in the version",
      (told) => {
        const [version] = told.world.workflows.versions;
        const node = version?.workflow.nodes.find(({ id }) => id === "a");
        if (node && "executor" in node) node.executor = { kind: "code", code: "context['a'] = 0" };
      },
      /version 1 of workflow "named", was changed/,
    ],
    [
      "is in no version any more",
      (told) => void told.world.workflows.versions.splice(0),
      /version 1 of workflow "named", is missing/,
    ],
  ])("breaks the chain when it %s", async (_what, tamper, message) => {
    const copy = structuredClone(workflow);
    const told = await new Story(copy, {}).start();
    await told.everything();
    tamper(told);
    expect(await told.verify()).toMatchObject({
      state: "broken",
      problem: { seq: 0, message: expect.stringMatching(message) },
    });
  });
});

describe("a blob of any size", () => {
  const home: BlobHome = { client: "default", root: "root" };
  const chunkBytes = 64 * 1024;

  /**
   * A blob of many chunks in one reused buffer, so a reader that keeps chunks without a copy keeps only the last one.
   */
  function store(chunks: number, write: (chunk: Buffer, index: number) => void): BlobStore {
    const chunk = Buffer.alloc(chunkBytes);
    return {
      put: () => Promise.reject(new Error("verify writes nothing")),
      get: () => Promise.reject(new Error("verify reads streams")),
      placeOf: () => ({ bucket: "", key: "" }),
      async stream() {
        return (async function* () {
          for (let index = 0; index < chunks; index++) {
            write(chunk.fill(" "), index);
            yield chunk;
          }
        })();
      },
    };
  }

  it("is checked chunk by chunk, together with the blobs that it names", async () => {
    const saved: string[] = [];
    const inner = await offloadLargeValues(JSON.stringify(deepText), async (ref) => void saved.push(ref.sha256));
    const write = (chunk: Buffer, index: number) => void chunk.write(index === 70 ? `[${inner},${index}]` : `${index}`);
    const hash = sha256(await collected(store(200, write)));
    const outer = { place: 'context["big"]', key: "big", ref: { sha256: hash, type: "json" as const } };
    const bad = await new NamedBlobs(store(200, write)).firstBad(home, [outer]);
    expect(bad).toMatchObject({ key: "big", blob: saved[0], message: expect.stringMatching(/was changed/) });
  });

  it("that the store itself finds changed is reported like any other", async () => {
    const mismatch = store(1, () => {
      throw new BlobMismatch("it has other contents");
    });
    const bad = await new NamedBlobs(mismatch).firstBad(home, [{ place: "its logs", ref: { sha256: "00" } }]);
    expect(bad).toEqual({ blob: "00", message: "its logs: blob 00 was changed: its bytes have another SHA-256" });
  });

  async function collected(blobs: BlobStore): Promise<Buffer> {
    const all: Buffer[] = [];
    for await (const chunk of await blobs.stream(home, "")) all.push(Buffer.from(chunk));
    return Buffer.concat(all);
  }
});
