import { Readable } from "node:stream";
import type { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { type Workflow, workflowHash } from "@nova/workflow";
import { expect, it } from "vitest";
import { claimOf, redactItem, redactObjects } from "../../packages/aws/src/archive.ts";
import { noteItem } from "../../packages/aws/src/dynamodb/chain/items.ts";

const plain = { id: "pay", description: "Pays", nodes: [] } as unknown as Workflow;
const noisy = { ...plain, onFailure: { mail: ["ops@globex.example"] } };
const quiet = ({ onFailure: _, ...left }: Workflow): Workflow => left;
const hashes = { plain: workflowHash(plain), noisy: workflowHash(noisy) };
const read: string[] = [];

const bucket = {
  bucket: "b",
  client: {
    async send({ input: { Key = "" } }: GetObjectCommand) {
      read.push(Key);
      const body = JSON.stringify(Key.includes(hashes.plain) ? plain : noisy);
      return { ContentLength: body.length, Body: Readable.from([Buffer.from(body)]) };
    },
  } as unknown as S3Client,
};

const text = (value: string) => ({ S: value });
const version = (hash: string, more = {}) => ({
  __edb_e__: text("version"),
  workflowId: text("pay"),
  version: { N: "1" },
  hash: text(hash),
  ...more,
});
const inline = (workflow: Workflow) => ({ definition: text(JSON.stringify(workflow)) });
const objectOf = (name: string, bytes = 100) => ({ kind: "object" as const, key: `workflows/pay/${name}.json`, bytes });

it.each([
  ["no workflow definition", { __edb_e__: text("client"), slug: text("acme") }],
  ["a workflow definition from which nothing is redacted", version(hashes.plain, inline(plain))],
  ["only the hash of a workflow definition from which nothing is redacted", version(hashes.plain)],
])("the redaction of a backup leaves an item with %s unchanged", async (_, item) => {
  expect(await redactItem(bucket, item, quiet)).toBe(item);
});

it.each([
  ["in the item", inline(noisy), inline(plain)],
  ["in S3", {}, {}],
])(
  "the redaction of a backup replaces the hash in an item whose workflow definition is stored %s",
  async (_, whole, left) => {
    expect(await redactItem(bucket, version(hashes.noisy, whole), quiet)).toEqual(version(hashes.plain, left));
  },
);

it("the redaction of a backup keeps the hash of a definition that was changed in the table, so that verify still reports the change", async () => {
  const changed = version("0".repeat(64), inline(noisy));
  expect(await redactItem(bucket, changed, quiet)).toEqual({ ...changed, ...inline(plain) });
});

it("the redaction of a backup names an S3 object by the hash of the redacted workflow definition", async () => {
  const [same, cut] = await redactObjects(bucket, [objectOf(hashes.plain), objectOf(hashes.noisy)], quiet);
  expect(same).toEqual(objectOf(hashes.plain));
  const left = JSON.stringify(plain);
  expect(cut).toEqual({ ...objectOf(hashes.plain, left.length), text: left });
});

it.each([
  [[1_000_000, 1_000_000, 1], 2],
  [[2_000_000], 1],
  [[4_000_000, 10], 1],
  [[10, 10, 10], 3],
  [[], 0],
])(
  "the redaction of workflow definitions with %j bytes returns only the first %i definitions, because one page can hold no more",
  async (sizes, taken) => {
    read.length = 0;
    const found = await redactObjects(
      bucket,
      sizes.map((bytes) => objectOf(hashes.plain, bytes)),
      quiet,
    );
    expect([found.length, read.length]).toEqual([taken, taken]);
  },
);

it("an import stores the note about a restart, but not the note that names a Merkle tree of the exporting deployment", () => {
  const restart = noteItem("exec_1", { kind: "restart", execution: "exec_2" });
  expect(claimOf(restart)).toMatchObject({ kind: "note", execution: "exec_1" });
  expect(claimOf(noteItem("exec_1", { kind: "root", number: 1, index: 0 }))).toBeUndefined();
});
