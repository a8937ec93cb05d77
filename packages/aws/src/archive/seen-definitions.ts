import type { ArchiveQuery, ArchiveRecord } from "@nova/service";
import { type Workflow, workflowHash } from "@nova/workflow";
import { type Item, numberIn, textIn, textValue } from "../dynamodb/chain/items.ts";
import { definitionKey, readDefinition } from "../dynamodb/definitions.ts";
import { kindOf } from "../formats.ts";
import type { BucketConnection } from "../s3/objects.ts";

type Redact = NonNullable<ArchiveQuery["seen"]>;
type ArchivedObject = Extract<ArchiveRecord, { kind: "object" }>;

/** Kinds whose items have a definition, inline or in S3. */
const defining = new Set(["version", "publication"]);

/**
 * Limit of definitions per page. A Lambda response has at most 6 MB, and JSON escapes enlarge text by three quarters.
 */
const maxBytes = 2_000_000;

/** Redacts the definition in an item. */
export async function redactItem(bucket: BucketConnection, item: Item, seen: Redact): Promise<Item> {
  if (!defining.has(kindOf(item))) return item;
  const definition = textIn(item, "definition");
  const [workflowId = "", hash = ""] = [textIn(item, "workflowId"), textIn(item, "hash")];
  const named = { workflowId, hash, version: numberIn(item, "version") ?? 0 };
  const left = redactDefinition(
    await readDefinition(bucket, { ...named, ...(definition !== undefined && { definition }) }),
    hash,
    seen,
  );
  if (!left) return item;
  return { ...item, hash: textValue(left.hash), ...(definition !== undefined && { definition: textValue(left.text) }) };
}

/** Redacts the first of these definitions: as many as `maxBytes` allows, at least one. */
export async function redactObjects(
  bucket: BucketConnection,
  objects: readonly ArchivedObject[],
  seen: Redact,
): Promise<ArchivedObject[]> {
  let bytes = 0;
  const end = objects.findIndex((object, index) => {
    bytes += object.bytes;
    return bytes > maxBytes && index > 0;
  });
  const onPage = objects.slice(0, end === -1 ? objects.length : end);
  return Promise.all(onPage.map((object) => redactObject(bucket, object, seen)));
}

async function redactObject(bucket: BucketConnection, object: ArchivedObject, seen: Redact): Promise<ArchivedObject> {
  const [, workflowId = "", hash = ""] = /^[^/]+\/([^/]+)\/(.+)\.json$/.exec(object.key) ?? [];
  const left = redactDefinition(await readDefinition(bucket, { workflowId, hash, version: 0 }), hash, seen);
  if (!left) return object;
  const { text } = left;
  return { kind: "object", key: definitionKey({ workflowId, hash: left.hash }), bytes: Buffer.byteLength(text), text };
}

/** Applies `seen` to a definition. Returns the text and the new hash; undefined if `seen` removes nothing. */
function redactDefinition(workflow: Workflow, hash: string, seen: Redact): { text: string; hash: string } | undefined {
  const left = seen(workflow);
  const [whole, leftHash] = [workflowHash(workflow), workflowHash(left)];
  if (whole === leftHash) return undefined;
  // A definition that was tampered with keeps its stored hash, so that redaction does not make it verify.
  return { text: JSON.stringify(left), hash: whole === hash ? leftHash : hash };
}
