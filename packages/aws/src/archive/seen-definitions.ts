import type { ArchiveQuery, ArchiveRecord } from "@nova/service";
import { type Workflow, workflowHash } from "@nova/workflow";
import { type Item, numberIn, textIn, textValue } from "../dynamodb/chain/items.ts";
import { definitionKey, readDefinition } from "../dynamodb/definitions.ts";
import { kindOf } from "../formats.ts";
import type { BucketConnection } from "../s3/objects.ts";

type Seen = NonNullable<ArchiveQuery["seen"]>;
type ArchivedObject = Extract<ArchiveRecord, { kind: "object" }>;

/** Items that have a definition, or name one in S3. */
const defining = new Set(["version", "publication"]);

/** Bytes of definitions that are looked at for one page: a Lambda answers 6 MB, in which text grows by three quarters. */
const maxBytes = 2_000_000;

/** An item with what is seen of its definition. */
export async function seenItem(bucket: BucketConnection, item: Item, seen: Seen): Promise<Item> {
  if (!defining.has(kindOf(item))) return item;
  const definition = textIn(item, "definition");
  const [workflowId = "", hash = ""] = [textIn(item, "workflowId"), textIn(item, "hash")];
  const named = { workflowId, hash, version: numberIn(item, "version") ?? 0 };
  const left = leftOf(
    await readDefinition(bucket, { ...named, ...(definition !== undefined && { definition }) }),
    hash,
    seen,
  );
  if (!left) return item;
  return { ...item, hash: textValue(left.hash), ...(definition !== undefined && { definition: textValue(left.text) }) };
}

/** The first of these definitions, at least one, with the texts of those of which not all is seen. */
export async function seenObjects(
  bucket: BucketConnection,
  objects: readonly ArchivedObject[],
  seen: Seen,
): Promise<ArchivedObject[]> {
  let bytes = 0;
  const end = objects.findIndex((object, index) => {
    bytes += object.bytes;
    return bytes > maxBytes && index > 0;
  });
  const part = objects.slice(0, end === -1 ? objects.length : end);
  return Promise.all(part.map((object) => seenObject(bucket, object, seen)));
}

async function seenObject(bucket: BucketConnection, object: ArchivedObject, seen: Seen): Promise<ArchivedObject> {
  const [, workflowId = "", hash = ""] = /^[^/]+\/([^/]+)\/(.+)\.json$/.exec(object.key) ?? [];
  const left = leftOf(await readDefinition(bucket, { workflowId, hash, version: 0 }), hash, seen);
  if (!left) return object;
  const { text } = left;
  return { kind: "object", key: definitionKey({ workflowId, hash: left.hash }), bytes: Buffer.byteLength(text), text };
}

/** What is seen of a definition, and its hash; undefined where that is all of it. */
function leftOf(workflow: Workflow, hash: string, seen: Seen): { text: string; hash: string } | undefined {
  const left = seen(workflow);
  const [whole, leftHash] = [workflowHash(workflow), workflowHash(left)];
  if (whole === leftHash) return undefined;
  // What somebody changed in the store keeps its hash: it must not verify because something of it was left out.
  return { text: JSON.stringify(left), hash: whole === hash ? leftHash : hash };
}
