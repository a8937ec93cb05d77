import { type BlobHome, BlobMismatch, type BlobStore, type StoredEntry, sweep } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { closeText, headOf } from "../../../packages/engine/src/chain/entry.ts";
import { loadStored } from "../../../packages/engine/src/context/context.ts";
import { offloadLargeValues, referencesIn } from "../../../packages/engine/src/context/references.ts";
import { sha256 } from "../../../packages/engine/src/sha256.ts";
import { NamedBlobs } from "../../../packages/engine/src/trace/content-check.ts";
import { action, flow } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { fails, Story, succeeds } from "../../support/engine/story.ts";

const retry = { attempts: 2, delaySeconds: 0 };
const workflow = flow(
  "verified",
  [action("a", { effects: false, retry }), action("b")],
  [
    ["start", "a"],
    ["a", "b"],
    ["b", "end"],
  ],
);

async function closedStory(): Promise<Story> {
  const scripts = { a: [fails("once"), succeeds("a", `"${"x".repeat(9000)}"`)], b: [succeeds("b", "850.0")] };
  const story = await new Story(workflow, scripts).start('{"n":1}');
  await story.everything();
  return story;
}

const place = (story: Story, seq: number) => story.world.chain.at({ execution: story.id, scope: "", seq });
const entryAt = (story: Story, seq: number) => place(story, seq).entry as StoredEntry;
const change = (story: Story, seq: number, changes: Partial<StoredEntry>) => {
  place(story, seq).entry = { ...entryAt(story, seq), ...changes };
};
/** Changes the hashed text of an entry, and stores the hash of the changed text. */
const rewrite = (story: Story, seq: number, from: string | RegExp, to: string) => {
  const head = entryAt(story, seq).head.replace(from, to);
  expect(head).not.toBe(entryAt(story, seq).head);
  change(story, seq, { head, hash: sha256(head) });
};

it("verify reports an intact chain as `anchored`", async () => {
  const story = await closedStory();
  expect(await story.verify()).toEqual({ state: "anchored", links: 5, erased: [], sourceGone: [] });
});

describe("a chain of work", () => {
  it.each<[string, number, RegExp, (story: Story) => void]>([
    [
      "an entry whose hashed head was changed",
      1,
      /hash stored beside it/,
      (story) => change(story, 1, { head: entryAt(story, 1).head.replace("success", "failed") }),
    ],
    [
      "an entry whose head was changed and whose hash was computed again",
      2,
      /does not name the hash/,
      (story) => rewrite(story, 1, '"execution_time_ms":1', '"execution_time_ms":2'),
    ],
    [
      "a first entry whose head was changed and whose hash was computed again",
      1,
      /does not name the hash/,
      (story) => rewrite(story, 0, "default", "another"),
    ],
    [
      "a changed context",
      2,
      /its context was changed/,
      (story) => change(story, 2, { contents: { context: { text: "{}" } } }),
    ],
    [
      "a changed step",
      1,
      /step 1 was changed/,
      (story) => {
        const step = place(story, 1).steps.get(1);
        if (step) place(story, 1).steps.set(1, { ...step, text: step.text.replace("once", "never") });
      },
    ],
    [
      "a step that was replaced and whose hash was computed again",
      1,
      /a step that it lists/,
      (story) => place(story, 1).steps.set(1, { step: 1, text: "{}", hash: sha256("{}") }),
    ],
    ["a deleted step", 1, /a step that it lists/, (story) => place(story, 1).steps.clear()],
    ["a deleted entry", 2, /link 1 was dropped/, (story) => void delete place(story, 1).entry],
    ["a deleted entry 0", 1, /link 0 was dropped/, (story) => void delete place(story, 0).entry],
    [
      "an entry after the close entry",
      5,
      /after the close/,
      (story) => {
        const head = JSON.stringify({ ...JSON.parse(entryAt(story, 2).head), seq: 5, prev: entryAt(story, 4).hash });
        place(story, 5).entry = { head, hash: sha256(head), contents: {} };
      },
    ],
    ["a deleted close entry", 4, /close entry was dropped/, (story) => void delete place(story, 4).entry],
    [
      "a close entry that was changed and whose hash was computed again",
      4,
      /not the one that the record of the run knows/,
      (story) => rewrite(story, 4, "completed", "cancelled"),
    ],
    [
      "a changed number of entries in the close entry",
      4,
      /counts 4 links, the chain has 5/,
      (story) => rewrite(story, 4, '"count":5', '"count":4'),
    ],
    [
      "a changed signature of the close entry",
      4,
      /signature of the close entry is not valid/,
      (story) => change(story, 4, { signature: "another" }),
    ],
  ])("with %s is reported as broken at entry %i", async (_what, seq, message, tamper) => {
    const story = await closedStory();
    tamper(story);
    expect(await story.verify()).toMatchObject({
      state: "broken",
      problem: { seq, message: expect.stringMatching(message) },
    });
  });

  it("with an edge that its decision did not take is reported as broken, even if every hash is right", async () => {
    const story = await closedStory();
    rewrite(story, 1, '"path_taken":"b"', '"path_taken":"end"');
    rewrite(story, 2, /"prev":"[0-9a-f]+"/, `"prev":"${entryAt(story, 1).hash}"`);
    expect(await story.verify()).toMatchObject({
      state: "broken",
      problem: { seq: 2, message: 'node "b" does not follow node "a", whose edge leads to "end"' },
    });
  });

  it("is reported as broken even if an attacker computed all hashes again, because the record and the signature do not match", async () => {
    const story = await closedStory();
    rewrite(story, 3, '"execution_time_ms":0', '"execution_time_ms":1');
    rewrite(story, 4, /"prev":"[0-9a-f]+"/, `"prev":"${entryAt(story, 3).hash}"`);
    expect(await story.verify()).toMatchObject({
      problem: { message: expect.stringMatching(/record of the run knows/) },
    });
    story.world.record(story.id).tip = entryAt(story, 4).hash;
    expect(await story.verify()).toMatchObject({ problem: { message: expect.stringMatching(/signature/) } });
  });
});

it("a chain is reported as open while its record is open, and as broken if its close entry has no signature", async () => {
  const open = await new Story(workflow).start();
  expect(await open.verify()).toMatchObject({ state: "open", links: 1 });
  open.world.record(open.id).status = "completed";
  expect(await open.verify()).toMatchObject({ state: "broken", problem: { seq: 1 } });
  const unsigned = await closedStory();
  const { signature: _, ...entry } = entryAt(unsigned, 4);
  place(unsigned, 4).entry = entry;
  const message = expect.stringMatching(/has no signature/);
  expect(await unsigned.verify()).toMatchObject({ state: "broken", problem: { seq: 4, message } });
});

it("a chain with a close entry is reported as open until its record names the close entry", async () => {
  const story = await closedStory();
  const { tip: _, endedAt: __, durationMs: ___, nodes: ____, ...begun } = story.world.record(story.id);
  story.world.executions.records.set(story.id, { ...begun, status: "running", open: true });
  expect(await story.verify()).toMatchObject({ state: "open", links: 5 });
  change(story, 4, { signature: "another" });
  expect(await story.verify()).toMatchObject({ state: "broken", problem: { seq: 4 } });
});

it("a run is reported as broken if its last entries were deleted and its record was set to open", async () => {
  const story = await closedStory();
  const { tip: _, endedAt: __, durationMs: ___, nodes: ____, ...begun } = story.world.record(story.id);
  story.world.executions.records.set(story.id, { ...begun, status: "running", open: true });
  for (const seq of [3, 4]) {
    delete place(story, seq).entry;
    delete place(story, seq).turn;
  }
  const message = expect.stringMatching(/Step Functions has completed the run/);
  expect(await story.verify()).toMatchObject({ state: "broken", problem: { seq: 3, message } });
  const swept = await sweep(story.world.ports(atOnce));
  expect(swept.failed).toMatchObject([
    { id: story.id, reason: expect.stringMatching(/ends with link 2 and no close/) },
  ]);
  expect(story.chain).toEqual(["start success", "a success", "b success"]);
});

it("a chain is reported as broken if its entry 0 names no state machine or no definition", async () => {
  const story = await closedStory();
  const ports = story.world.ports(atOnce);
  let prev: string | undefined;
  for (let seq = 0; seq <= 4; seq++) {
    const { machine: _, definition: __, ...head } = JSON.parse(entryAt(story, seq).head);
    const text = JSON.stringify(prev === undefined ? head : { ...head, prev });
    prev = sha256(text);
    change(story, seq, { head: text, hash: prev });
  }
  expect(await story.verify()).toMatchObject({ state: "broken" });
  change(story, 4, { signature: await ports.keyPair.sign(closeText(prev ?? "")) });
  story.world.record(story.id).tip = prev ?? "";
  const message = "its head does not say its machine";
  expect(await story.verify()).toMatchObject({ state: "broken", problem: { seq: 0, message } });
});

it("a chain is reported as broken if a content is missing and no valid signed note says that it was erased", async () => {
  const story = await closedStory();
  change(story, 2, { contents: {} });
  const message = expect.stringMatching(/its context is gone.*was taken away/);
  const broken = { state: "broken", erased: [], problem: { seq: 2, message } };
  expect(await story.verify()).toMatchObject(broken);
  await story.noteErasure({ key: "another key" });
  expect(await story.verify()).toMatchObject(broken);
  await story.noteErasure({ of: "exec_another" });
  expect(await story.verify()).toMatchObject(broken);
  await story.noteErasure();
  expect(await story.verify()).toMatchObject({ state: "anchored" });
});

it("a chain with erased contents, inline or in a blob, is reported as valid, with the names of these contents", async () => {
  const story = await closedStory();
  change(story, 2, { contents: {} });
  await story.noteErasure();
  const context = entryAt(story, 1).contents.context;
  expect(context).toHaveProperty("text");
  expect(await story.verify()).toEqual({
    state: "anchored",
    links: 5,
    erased: [{ seq: 2, content: "context" }],
    sourceGone: [],
  });
});

const named = flow(
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

/** In this run entry 0 has a large value in blobs, entry 1 a page of its context, and entry 2 long logs. */
async function storyWithBlobs(): Promise<Story> {
  const result = succeeds("a", `"${"x".repeat(4000)}"`);
  const talks = succeeds("b", "1");
  const b = { ...talks, result: { ...talks.result, logs: "l".repeat(9000) } } as typeof talks;
  const story = await new Story(named, { a: [result], b: [b] }).start(`{"big":${large},"n":"${"y".repeat(3000)}"}`);
  await story.everything();
  return story;
}

const storedAt = (story: Story, seq: number) => {
  const { context } = entryAt(story, seq).contents;
  return loadStored(context && "text" in context ? context.text : "");
};
const bigOf = (story: Story) => {
  const [, , json = ""] = storedAt(story, 0).inline.find(([key]) => key === "big") ?? [];
  return referencesIn(json)[0]?.sha256 ?? "no blob";
};
const logsOf = (story: Story) => headOf(entryAt(story, 2)).digests.logs ?? "no logs";
const pageOf = (story: Story) => storedAt(story, 1).pages[0]?.sha256 ?? "no page";

const changeByte = (story: Story, blob: string) => {
  const key = blobKey(story, blob);
  const bytes = Buffer.from(story.world.blobs.blobs.get(key) as Uint8Array);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  story.world.blobs.blobs.set(key, bytes);
};
const deleteBlob = (story: Story, blob: string) => {
  expect(story.world.blobs.blobs.delete(blobKey(story, blob))).toBe(true);
};
const blobKey = (story: Story, blob: string) =>
  Array.from(story.world.blobs.blobs.keys()).find((key) => key.endsWith(blob)) ?? "none";

describe("a blob that an entry names", () => {
  it.each<[string, (story: Story) => string, number, string | undefined, string]>([
    ["a value", bigOf, 0, "big", 'context["big"]'],
    ["a text inside a large value", () => sha256(deepText), 0, "big", 'context["big"]'],
    ["a page of the context", pageOf, 1, undefined, "a page of its context"],
    ["logs", logsOf, 2, undefined, "its logs"],
  ])(
    "is reported as a break of the chain if it was changed or is missing: %s",
    async (_what, blobOf, seq, key, place) => {
      for (const [tamper, what] of [
        [changeByte, "was changed: its bytes have another SHA-256"],
        [deleteBlob, "is missing"],
      ] as const) {
        const story = await storyWithBlobs();
        expect(await story.verify()).toMatchObject({ state: "anchored" });
        const blob = blobOf(story);
        tamper(story, blob);
        const { state, problem } = await story.verify();
        const message = `${place}: blob ${blob} ${what}`;
        expect({ state, problem }).toEqual({ state: "broken", problem: { seq, message, ...(key && { key }), blob } });
      }
    },
  );

  it("is read once by verify, however many entries name it", async () => {
    const story = await storyWithBlobs();
    const reads: string[] = [];
    const blobs = story.world.blobs;
    const get = blobs.blobs.get.bind(blobs.blobs);
    blobs.blobs.get = (key) => {
      reads.push(key);
      return get(key);
    };
    await story.verify();
    expect(reads.toSorted()).toEqual(Array.from(blobs.blobs.keys()).toSorted());
  });
});

describe("the workflow definition that entry 0 names", () => {
  it.each<[string, (story: Story) => void, RegExp]>([
    [
      "was changed in the stored version",
      (story) => {
        const [version] = story.world.workflows.versions;
        const node = version?.workflow.nodes.find(({ id }) => id === "a");
        if (node && "executor" in node) node.executor = { kind: "code", code: "context['a'] = 0" };
      },
      /version 1 of workflow "named", was changed/,
    ],
    [
      "is missing because its version was deleted",
      (story) => void story.world.workflows.versions.splice(0),
      /version 1 of workflow "named", is missing/,
    ],
  ])("is reported as a break of the chain if it %s", async (_what, tamper, message) => {
    const copy = structuredClone(named);
    const story = await new Story(copy, {}).start();
    await story.everything();
    tamper(story);
    expect(await story.verify()).toMatchObject({
      state: "broken",
      problem: { seq: 0, message: expect.stringMatching(message) },
    });
  });
});

describe("a blob of any size", () => {
  const home: BlobHome = { client: "default", root: "root" };
  const chunkBytes = 64 * 1024;

  /**
   * Returns a store that streams a blob of many chunks through one buffer. A reader that does not copy keeps only the
   * last chunk.
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

  it("is checked by verify chunk by chunk, together with the blobs that it names", async () => {
    const saved: string[] = [];
    const inner = await offloadLargeValues(JSON.stringify(deepText), async (ref) => void saved.push(ref.sha256));
    const write = (chunk: Buffer, index: number) => void chunk.write(index === 70 ? `[${inner},${index}]` : `${index}`);
    const hash = sha256(await collected(store(200, write)));
    const outer = { place: 'context["big"]', key: "big", ref: { sha256: hash, type: "json" as const } };
    const bad = await new NamedBlobs(store(200, write)).firstBad(home, [outer]);
    expect(bad).toMatchObject({ key: "big", blob: saved[0], message: expect.stringMatching(/was changed/) });
  });

  it("is reported like any other changed blob if it was changed and the blob store therefore refuses to return it", async () => {
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
