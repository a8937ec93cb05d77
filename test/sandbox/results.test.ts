import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import { type BlobType, type CodeResult, jsonProblem } from "@nova/engine";
import fc from "fast-check";
import { expect, it } from "vitest";
import { sha256 } from "../../packages/engine/src/sha256.ts";
import { takeResult } from "../../packages/sandbox/src/results.ts";
import { MemoryIo } from "./support/memory-io.ts";

/** A sandbox whose every file has this text. */
const holding = (text: string) => ({ files: { read: async () => [Buffer.from(text)] } }) as unknown as E2bSandbox;
const { signal } = new AbortController();

/** Returns the result of code, after checking that an inline answer and a file give the same result. */
async function taken(result: unknown, io = new MemoryIo()): Promise<CodeResult> {
  const told = { type: "result" as const, result, logs: "said", durationMs: 1 };
  const direct = await takeResult(holding(""), told, new Set(), io, signal);
  const text = JSON.stringify(told);
  const file = { type: "outcome" as const, path: "claims/a/0-1/outcome", bytes: Buffer.byteLength(text) };
  expect(await takeResult(holding(text), file, new Set(), new MemoryIo(), signal)).toEqual(direct);
  return direct;
}

const success = (set: unknown[], more: object = {}) => ({ status: "success", set, delete: [], blobs: [], ...more });

it.each<[string, unknown, RegExp]>([
  [
    "closes the object around it",
    success([["x", '1}, "status": "completed", "y": {"z":1']]),
    /context\["x"\] is no JSON: it has "}"/,
  ],
  ["is not JSON", success([["x", "nope"]]), /is no JSON/],
  ["is two JSON values", success([["x", "1 2"]]), /is no JSON/],
  ["has a lone surrogate", success([["x", '"\ud800"']]), /half a character/],
  ["has an escaped lone surrogate", success([["x", '"\\ud800"']]), /half a character/],
  ["has 3,000 levels", success([["x", "[".repeat(3000) + "]".repeat(3000)]]), /nested more than 500 levels/],
  ["has a field twice", success([["x", '{"client":"a","client":"b"}']]), /field "client" twice/],
])("a result of code fails its node if a value in it %s", async (_what, result, message) => {
  const found = { status: "error", class: "NodeFailed", logs: "said", message: expect.stringMatching(message) };
  expect(await taken(result)).toMatchObject(found);
});

it.each<[string, unknown]>([
  ["a lone surrogate in a key", success([["\ud800", "1"]])],
  ["a lone surrogate in a deleted key", success([], { delete: ["\ud800"] })],
  [
    "a key twice",
    success([
      ["a", "1"],
      ["a", "2"],
    ]),
  ],
  ["a value that is not a text", success([["a", 1]])],
  ["an unknown status", { status: "completed" }],
  ["an error without a message", { status: "error", class: "NodeFailed" }],
  ["a class of error that code cannot have", { status: "error", class: "BudgetExceeded", message: "", traceback: "" }],
  ["a list instead of an object", []],
  ["null instead of an object", null],
])("a result of code fails its node if it has %s", async (_what, result) => {
  expect(await taken(result)).toMatchObject({ status: "error", class: "NodeFailed" });
});

it("a JSON value in a result keeps all digits of its numbers", async () => {
  const json = '{ "n": [12345678901234567890, 850.0, 1e2] }';
  expect(await taken(success([["x", json]]))).toMatchObject({ status: "success", set: [{ key: "x", json }] });
});

it("lone surrogates in an error message and its traceback are replaced", async () => {
  const error = { status: "error", class: "NodeFailed", message: "a\ud800", traceback: "\udc00" };
  expect(await taken(error)).toMatchObject({ message: "a\ufffd", traceback: "\ufffd" });
});

it.each<[BlobType, string | Buffer, RegExp | null]>([
  ["json", '{"a":1,"a":2}', /says to be JSON and has the field "a" twice/],
  ["json", "[1", /says to be JSON and is cut off/],
  ["json", Buffer.from([0x22, 0xff, 0x22]), /says to be JSON and is not UTF-8/],
  ["text", Buffer.from([0x61, 0xff, 0x61]), /says to be a text and is not UTF-8/],
  ["bytes", Buffer.from([0xff]), null],
  ["json", "[1]", null],
])("a blob of type %s in a result is stored only if its bytes fit this type: %s", async (type, content, message) => {
  const body = Buffer.from(content as string);
  const blob = { sha256: sha256(body), bytes: body.length, type, data: body.toString("base64") };
  const io = new MemoryIo();
  const result = await taken(success([], { blobs: [blob] }), io);
  const failed = { status: "error", message: expect.stringMatching(message ?? "") };
  expect(result).toMatchObject(message ? failed : { status: "success" });
  expect(io.stored).toEqual(message ? [] : [blob.sha256]);
});

it("a blob that the node's input has with another type is checked for its new type before it is stored", async () => {
  const body = Buffer.from("no json");
  const ref = { sha256: sha256(body), bytes: body.length, type: "json", data: body.toString("base64") };
  const told = { type: "result" as const, result: success([], { blobs: [ref] }), logs: "", durationMs: 1 };
  const stored = new Set([`${ref.sha256} ${ref.bytes} bytes`]);
  expect(await takeResult(holding(""), told, stored, new MemoryIo(), signal)).toMatchObject({ status: "error" });
});

it("the read of an incomplete outcome file throws an error after which NOVA reads the file a second time", async () => {
  const file = { type: "outcome" as const, path: "claims/a/0-1/outcome", bytes: 10 };
  await expect(takeResult(holding("{"), file, new Set(), new MemoryIo(), signal)).rejects.toThrow(/only 1 of 10 bytes/);
});

it("takeResult either fails the node or returns exactly the values of the result, for any random result", async () => {
  const json = fc.oneof(fc.json(), fc.string({ unit: "binary" }));
  const result = fc.oneof(
    fc.anything(),
    fc.record(
      {
        status: fc.constantFrom("success", "error", "completed"),
        set: fc.array(fc.oneof(fc.tuple(fc.string({ unit: "binary" }), json), fc.anything())),
        delete: fc.array(fc.oneof(fc.string(), fc.anything())),
        blobs: fc.constant([]),
      },
      { requiredKeys: ["status"] },
    ),
  );
  await fc.assert(
    fc.asyncProperty(result, async (left) => {
      const told = { type: "result" as const, result: left, logs: "", durationMs: 1 };
      const made = await takeResult(holding(""), told, new Set(), new MemoryIo(), signal);
      if (made.status === "error") return;
      const { set } = left as unknown as { set: [string, string][] };
      expect(made.set).toEqual(set.map(([key, text]) => ({ key, json: text })));
      for (const { key, json: text } of made.set) {
        expect(key.isWellFormed()).toBe(true);
        expect(jsonProblem(text)).toBeUndefined();
        expect(() => JSON.parse(text)).not.toThrow();
      }
    }),
    { numRuns: 2_000 },
  );
});
