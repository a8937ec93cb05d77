import { describe, expect, it } from "vitest";
import { createNodeIo } from "../../../packages/engine/src/attempt/task-input.ts";
import { readPosition } from "../../../packages/engine/src/chain/position.ts";
import { Context } from "../../../packages/engine/src/context/context.ts";
import { referenceText } from "../../../packages/engine/src/context/references.ts";
import { withKinds } from "../../../packages/engine/src/kinds/table.ts";
import type { CredentialOverlay } from "../../../packages/engine/src/ports/credentials.ts";
import { sha256 } from "../../../packages/engine/src/sha256.ts";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { type Script, textRef } from "../../support/engine/harness.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { given, Story, succeeds } from "../../support/engine/story.ts";

const two = flow("two", [action("a"), action("b")], lines("start > a > b > end"));
const letter = Buffer.from("dear all ".repeat(1000));
const large = succeeds("letter", referenceText(textRef(letter)), { files: [letter] });

/** Returns the `NodeIo` of node b after node a has run `script`. The only input of b is `inputJson`. */
async function ioOfB(script: Script, inputJson: string, secrets: string[] = [], overlay?: CredentialOverlay) {
  const story = await new Story(two, { a: [script] }).start();
  await story.finish(story.deliver("a", 0));
  const ports = story.world.ports(atOnce);
  const position = await readPosition(ports, { execution: story.id, scope: "", seq: 2 });
  const input = new Context([{ key: "x", json: inputJson, by: 1 }]);
  const io = await createNodeIo(withKinds(ports), position, input, new Set(secrets), overlay);
  return { io, home: position.before, blobs: ports.blobs };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

it.each([
  ["no part of the input is secret", [], undefined, true],
  ["an input of the workflow is secret", ["x"], undefined, false],
  [
    "a credential is added to the input, even if its value is too short to be masked",
    [],
    { members: [{ key: "x", json: "1" }], secrets: [], hosts: [] },
    false,
  ],
])(
  "the input of a node counts as free of secrets only if it has no secret input and no credentials: %s %j",
  async (_what, secrets, overlay, isPlain) => {
    const { io } = await ioOfB(large, '"abc"', secrets, overlay);
    expect(io.isPlain).toBe(isPlain);
  },
);

describe("the values that the code of a node can load", () => {
  it("include a blob of the node's input", async () => {
    const { io } = await ioOfB(large, referenceText(textRef(letter)));
    expect(await textOf(await io.openBlob(textRef(letter)))).toBe(letter.toString());
  });

  it("do not include a blob that only another node had as its input", async () => {
    const { io } = await ioOfB(large, "1");
    await expect(io.openBlob(textRef(letter))).rejects.toThrow(/is not part of the node's input/);
  });

  it("include a blob that a JSON blob of the code refers to, even if two chunks share the reference", async () => {
    const { io, home, blobs } = await ioOfB(large, "1");
    const text = `{"padding":"${"x".repeat(30)}","letter":${referenceText(textRef(letter))}}`;
    const ref = { sha256: sha256(text), bytes: Buffer.byteLength(text), type: "json" } as const;
    await io.storeBlob(
      ref,
      (async function* () {
        yield Buffer.from(text.slice(0, 80));
        yield Buffer.from(text.slice(80));
      })(),
    );
    expect(Buffer.from(await blobs.get(home, ref.sha256)).toString()).toBe(text);
    expect(await textOf(await io.openBlob(textRef(letter)))).toBe(letter.toString());
  });

  it("include a blob in a result that the code reads with `outputs`, even if the context no longer has this blob", async () => {
    const { io } = await ioOfB(large, "1");
    expect(await io.outputs("a")).toBe(`{"letter":${referenceText(textRef(letter))}}`);
    expect(await textOf(await io.openBlob(textRef(letter)))).toBe(letter.toString());
  });

  it("include the results of earlier nodes, and null for a node without a result", async () => {
    const { io } = await ioOfB(succeeds("n", "850.0"), "1");
    expect(await io.outputNames()).toEqual(["start", "a"]);
    expect([await io.outputs("a"), await io.outputs("b")]).toEqual(['{"n":850.0}', null]);
  });
});

it.each([
  ["of the node's input", `[${referenceText(textRef(letter))}]`, succeeds("a", "1"), undefined],
  ["of the result of an earlier node", "1", large, undefined],
  ["that no earlier node had", "1", succeeds("a", "1"), { key: "y", ref: textRef(letter) }],
])(
  "foreignReference returns a reference in the result of a node only if the node may not use the blob: a blob %s",
  async (_whose, inputJson, script, foreign) => {
    const { io } = await ioOfB(script, inputJson);
    const set = [
      { key: "x", json: "1" },
      { key: "y", json: `{"deep":[${referenceText(textRef(letter))}]}` },
    ];
    expect(await io.foreignReference(set)).toEqual(foreign);
  },
);

it.each([
  ["as a JSON blob", { type: "json" }],
  ["as a blob of bytes", { type: "bytes" }],
  ["with a smaller length", { bytes: 1 }],
] as const)("the result of code may not refer to a text blob of its input %s", async (_how, change) => {
  const { io } = await ioOfB(succeeds("a", "1"), referenceText(textRef(letter)));
  const ref = { ...textRef(letter), ...change };
  expect(io.isOwn(textRef(letter))).toBe(true);
  expect(io.isOwn(ref)).toBe(false);
  expect(await io.foreignReference([{ key: "y", json: referenceText(ref) }])).toEqual({ key: "y", ref });
  await expect(io.openBlob(ref)).rejects.toThrow(/is not part of the node's input/);
});

it("a hash without type and length in the result of an earlier node does not count as a reference to a blob", async () => {
  const { io } = await ioOfB(succeeds("a", JSON.stringify({ sha256: textRef(letter).sha256 })), "1");
  const set = [{ key: "y", json: referenceText(textRef(letter)) }];
  expect(await io.foreignReference(set)).toMatchObject({ key: "y" });
});

const nodes = [
  ...["f", "a", "c", "b"].map((id) => action(id)),
  mapOver("m", [action("i"), action("k")], lines("i > k")),
];
const workflow = flow("seen", nodes, lines("start > f > a > c > m > end", "f > b > m"));

/**
 * Runs the workflow to its end. Returns the results of `outputs` for the node at this entry, each with the node's id.
 */
async function seenAt(scope: string, seq: number) {
  const echo = { i: (request: Parameters<typeof given>[0]) => succeeds("i", given(request, "item") ?? "") };
  const story = await new Story(workflow, echo).start('{"list":[7,8]}');
  await story.everything();
  expect(story.chain.at(-1)).toBe("(close) completed");
  const ports = story.world.ports(atOnce);
  const position = await readPosition(ports, { execution: story.id, scope, seq });
  const io = await createNodeIo(withKinds(ports), position, new Context(), new Set());
  const names = await io.outputNames();
  return Promise.all(names.map(async (name) => [name, await io.outputs(name)]));
}

const start = ["start", '{"list":[7,8]}'];
const f = ["f", '{"f":true}'];
const branches = ["a", "c", "b"].map((id) => [id, `{"${id}":true}`]);

it.each([
  ["a branch: the nodes before its fork, and no node of another branch", "/f@1.b", 1, [start, f]],
  ["the second node of a branch: also the first node of this branch", "/f@1.a", 2, [start, f, ["a", '{"a":true}']]],
  ["the node after a join: also the nodes of its branches", "", 3, [start, f, ...branches]],
  [
    "an item of a map: the nodes of this item, and of no other item",
    "/m@3.1",
    2,
    [start, f, ...branches, ["m", "{}"], ["i", '{"i":8}']],
  ],
  [
    "the node after a map: the list of the map",
    "",
    5,
    [start, f, ...branches, ["m", '{"m":[{"i":7,"k":true},{"i":8,"k":true}]}']],
  ],
])("code reads with `outputs` the results of exactly the nodes before it: %s", async (_who, scope, seq, expected) => {
  expect(await seenAt(scope, seq)).toEqual(expected);
});
