import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { StoreUnavailable } from "@nova/engine";
import * as service from "@nova/service";
import { defined, type Workflow, workflowHash } from "@nova/workflow";
import { reportOutage } from "./clients/outage.ts";
import * as db from "./dynamodb/chain/items.ts";
import { noteImported } from "./dynamodb/executions.ts";
import type { TableConnection } from "./dynamodb/records.ts";
import { definitionKey, definitionPrefix, readDefinition } from "./dynamodb/workflows.ts";
import { kindOf } from "./formats.ts";
import { type BucketConnection, readObject, signGet, spool, writeOnce } from "./s3/objects.ts";

/**
 * Kinds of items that the archive leaves out. Some matter for a day at most. The others are items of trees: the roots
 * of trees belong to the deployment that has signed and numbered them.
 */
const notArchived = new Set(["attempt", "rate", "leaf", "root", "stamp", "daily-check"]);

function isArchived(item: db.Item): boolean {
  return !notArchived.has(kindOf(item)) && !isRootNote(item);
}

/**
 * Returns whether an item is the note that names the tree of a run. Imports leave out such notes, because in this
 * deployment the same number may name a different tree.
 */
function isRootNote(item: db.Item): boolean {
  return kindOf(item) === "note" && db.textIn(item, "sk") === db.rootNoteKey;
}

/**
 * The position at which the next page of an export starts: after an item of the table, or after an object of the
 * bucket.
 */
type Position = { after?: db.Item } | ObjectPosition;
/** `after` is the key of the last object before this position. That object may be deleted by now. */
type ObjectPosition = { prefix: number; after?: string };

/** Exports and imports the table and the bucket, page by page: first all items, then all objects. */
export function createArchive(table: TableConnection, bucket: BucketConnection): service.Archive {
  return {
    async page(query) {
      const position = query.cursor === undefined ? {} : (JSON.parse(query.cursor) as Position);
      if ("prefix" in position) return objectPage({ table, bucket }, query, position);
      return itemPage({ table, bucket }, query, position);
    },
    sign: (key, seconds) => signGet(bucket, key, seconds),
    async read(key) {
      const found = await readObject(bucket, key);
      if (found) return found.chunks;
      throw new StoreUnavailable(`the object ${key} was deleted meanwhile - export again`);
    },
    claim: (text) => claimOf(JSON.parse(text) as db.Item),
    clientOf: (execution) => clientOfExecution(table, execution),
    async hasWorkflow(id) {
      const versions = { partition: `W#${id}`, keys: { prefix: "V#" }, limit: 1 };
      return (await db.readRange(table, versions)).items.length > 0;
    },
    async putItem(text) {
      const item = JSON.parse(text) as db.Item;
      const isNew = await db.putItem(table, withoutOffer(item), db.ifAbsent);
      const [id = "", client = "", workflowId = "", restartedFrom] = [
        "id",
        "client",
        "workflowId",
        "restartedFrom",
      ].map((name) => db.textIn(item, name));
      // If this run is a restart, the record of the restarted run must name it. That record may have been imported
      // before this run, without its name.
      if (restartedFrom !== undefined && kindOf(item) === "execution")
        await noteImported(table, { id, client, workflowId, restartedFrom });
      return isNew;
    },
    async putObject(key, body, { bytes, sha256 }) {
      await using source = await spool(body, { bytes, sha256 });
      await writeOnce(bucket, { key, bytes, sha256, contentType: "application/octet-stream", body: source.body });
    },
  };
}

/**
 * Returns the record of a run without the idle sandboxes that the run offers to other runs. These sandboxes belong to
 * the E2B account of the exporting server, and live for a minute at most.
 */
function withoutOffer({ idle, leaver: _, taker: __, open, ...record }: db.Item): db.Item {
  return idle === undefined && open ? { ...record, open } : record;
}

async function itemPage(
  { table, bucket }: { table: db.ItemConnection; bucket: BucketConnection },
  { client, seen }: service.ArchiveQuery,
  { after }: { after?: db.Item },
): Promise<service.ArchivePage> {
  const scan = new ScanCommand({
    TableName: table.table,
    ConsistentRead: true,
    ...(after && { ExclusiveStartKey: after }),
  });
  const { Items = [], LastEvaluatedKey: end } = await reportOutage("DynamoDB", () => table.client.send(scan));
  const isWanted = client === undefined ? async () => true : itemsOfClient(table, client);
  const wanted: db.Item[] = [];
  for (const item of Items) if (isArchived(item) && (await isWanted(item))) wanted.push(item);
  const shown = seen ? await Promise.all(wanted.map((item) => redactItem(bucket, item, seen))) : wanted;
  const records = shown.map(
    (item): service.ArchiveRecord => ({ kind: "item", entity: kindOf(item), item: JSON.stringify(withoutOffer(item)) }),
  );
  const next: Position = end ? { after: end } : { prefix: 0 };
  return { records, cursor: JSON.stringify(next) };
}

async function objectPage(
  { table, bucket }: { table: db.ItemConnection; bucket: BucketConnection },
  { client: slug, seen }: service.ArchiveQuery,
  { prefix, after }: ObjectPosition,
): Promise<service.ArchivePage> {
  const prefixes = [definitionPrefix, slug === undefined ? "blobs/" : `blobs/${slug}/`];
  const list = new ListObjectsV2Command({ Bucket: bucket.bucket, Prefix: prefixes[prefix], StartAfter: after });
  const { Contents = [], IsTruncated } = await reportOutage("S3", () => bucket.client.send(list));
  const all = Contents.map(({ Key = "", Size = 0 }) => ({ kind: "object" as const, key: Key, bytes: Size }));
  const found = slug === undefined ? all : await definitionsOfClient(table, all, slug);
  const onPage = seen && prefix === 0 ? await redactObjects(bucket, found, seen) : found;
  const isComplete = onPage.length === found.length;
  const lastKey = isComplete ? all.at(-1)?.key : found[onPage.length - 1]?.key;
  const isLastOfPrefix = !IsTruncated && isComplete;
  const next = isLastOfPrefix ? prefix + 1 < prefixes.length && { prefix: prefix + 1 } : { prefix, after: lastKey };
  return { records: onPage, ...(next && { cursor: JSON.stringify(next) }) };
}

/** Returns the objects without definitions that belong to drafts of other clients. */
async function definitionsOfClient<T extends { key: string }>(
  table: db.ItemConnection,
  objects: readonly T[],
  slug: string,
): Promise<T[]> {
  const owners = new Map<string, string | undefined>();
  const seen: T[] = [];
  for (const object of objects) {
    const [, id = ""] = /^workflows\/(draft-[^/]+)\//.exec(object.key) ?? [];
    if (id !== "" && !owners.has(id)) {
      const { items } = await db.readRange(table, { partition: `W#${id}`, keys: { prefix: "V#" }, limit: 1 });
      owners.set(id, items[0] && db.textIn(items[0], "draftOf"));
    }
    if (id === "" || (owners.get(id) ?? slug) === slug) seen.push(object);
  }
  return seen;
}

/** Kinds that belong to all clients. An export needs them to show which workflows a client's runs executed. */
const sharedKinds = new Set(["version", "workflow-state", "publication"]);

/**
 * Returns a function that is true for items of one client. A step, a task or a token belongs to the client of its
 * execution; the function reads the record of each execution once.
 */
function itemsOfClient(connection: db.ItemConnection, slug: string): (item: db.Item) => Promise<boolean> {
  const owners = new Map<string, Promise<string | undefined>>();
  return async (item) => {
    const [entity, head] = [db.textIn(item, "__edb_e__") ?? "", db.textIn(item, "head")];
    if (head !== undefined) return (JSON.parse(head) as { client?: string }).client === slug;
    // Definitions belong to all clients, except definitions of drafts.
    const isDraft = service.isDraftId(db.textIn(item, "workflowId") ?? "");
    if (sharedKinds.has(entity)) return isDraft ? db.textIn(item, "draftOf") === slug : true;
    if (db.textIn(item, "client") === slug) return true;
    if (db.textIn(item, "owner") === `client:${slug}`) return true;
    if (entity === "client") return db.textIn(item, "slug") === slug;
    const execution = db.textIn(item, "execution") ?? db.textIn(item, "partition")?.split("/")[0];
    if (execution === undefined) return false;
    const owner = owners.get(execution) ?? clientOfExecution(connection, execution);
    owners.set(execution, owner);
    return (await owner) === slug;
  };
}

/** Returns the client of an execution; undefined if the execution is not stored. */
async function clientOfExecution(connection: db.ItemConnection, id: string): Promise<string | undefined> {
  const record = await db.readOne(connection, { partition: `E#${id}`, key: "E" });
  return record && db.textIn(record, "client");
}

/** Patterns of an item's keys and owner, which the item's attributes fill. A final `*` matches any rest. */
interface KeyPatterns {
  pk: string;
  sk: string;
  /** Keys in indexes; an item may lack them. */
  workflowKey?: string;
  clientKey?: string;
  client?: string;
  /**
   * The execution to which the item belongs. For an item of the chain, this is the partition: the execution, followed
   * by the map item, if there is one.
   */
  execution?: string;
}

/**
 * Patterns of each kind whose items belong to one client. All other kinds (API keys, triggers, queues, shared data of
 * workflows) are left out.
 */
const keyPatterns: Readonly<Record<string, KeyPatterns>> = {
  audit: { pk: "A", sk: "A#{id}", clientKey: "A#{client}", client: "{client}" },
  client: { pk: "CLIENT#{slug}", sk: "CLIENT", clientKey: "CLIENTS", client: "{slug}" },
  credential: { pk: "S#{owner}", sk: "N#{name}", clientKey: "CREDENTIALS", client: "{owner}" },
  delivery: {
    pk: "DELIVERY#{key}",
    sk: "DELIVERY",
    workflowKey: "DELIVERY#{workflow}",
    clientKey: "DELIVERY#{client}",
    client: "{client}",
  },
  execution: {
    pk: "E#{id}",
    sk: "E",
    workflowKey: "W#{workflowId}",
    clientKey: "C#{client}",
    client: "{client}",
    execution: "{id}",
  },
  generation: { pk: "G#{workflowId}", sk: "N#{node}#{client}#{key}#{codeHash}", client: "{client}" },
  label: { pk: "LABEL#{name}#{value}", sk: "{startedAt}#{id}", client: "{client}", execution: "{id}" },
  link: { pk: "C#{partition}", sk: "L#*", execution: "{partition}" },
  note: { pk: "C#{partition}", sk: "N#*", execution: "{partition}" },
  session: { pk: "SESSION#{id}", sk: "SESSION", clientKey: "SESSION#{client}", client: "{client}" },
  spending: { pk: "M#{client}#{month}", sk: "{execution}#*", client: "{client}", execution: "{execution}" },
  stats: { pk: "F#{workflowId}", sk: "*", clientKey: "F#{client}", client: "{client}" },
  step: { pk: "C#{partition}", sk: "S#*", execution: "{partition}" },
  task: {
    pk: "T#{execution}",
    sk: "T#{id}",
    workflowKey: "T#{id}",
    clientKey: "T#{client}",
    execution: "{execution}",
  },
  token: { pk: "T#{execution}", sk: "K#*", execution: "{execution}" },
  version: { pk: "W#{workflowId}", sk: "V#{version}", workflowKey: "VERSIONS" },
};

/**
 * Returns the client and the execution that an imported item claims to belong to. Returns undefined for kinds of items
 * that belong to no client, and for an item whose keys do not match its attributes. Without this check, a forged item
 * could become an API key.
 */
export function claimOf(item: db.Item): service.Claim | undefined {
  const kind = kindOf(item);
  const place = Object.hasOwn(keyPatterns, kind) ? keyPatterns[kind] : undefined;
  if (!place || isRootNote(item)) return undefined;
  // In keys, the number of a version has ten digits.
  const text = (name: string) => db.textIn(item, name) ?? db.numberIn(item, name)?.toString().padStart(10, "0") ?? "";
  const filled = (pattern: string) => pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => text(name));
  const fits = (key: string, pattern: string) =>
    pattern.endsWith("*") ? key.startsWith(filled(pattern.slice(0, -1))) : key === filled(pattern);
  if (!fits(db.textIn(item, "pk") ?? "", place.pk) || !fits(db.textIn(item, "sk") ?? "", place.sk)) return undefined;
  for (const name of ["workflowKey", "clientKey"] as const) {
    const pattern = place[name];
    if (item[name] !== undefined && (pattern === undefined || db.textIn(item, name) !== filled(pattern)))
      return undefined;
  }
  const owner = place.client && filled(place.client);
  const client = kind === "credential" ? (/^client:(.+)$/.exec(owner ?? "")?.[1] ?? "") : owner;
  const execution = place.execution && filled(place.execution).split("/")[0];
  const version = { workflow: db.textIn(item, "workflowId") ?? "", number: db.numberIn(item, "version") ?? 0 };
  const ran = kind === "execution" || kind === "version" ? version : undefined;
  return { kind, ...defined({ client, execution, version: ran }), isOpen: db.textIn(item, "open") === "open" };
}

type Redact = NonNullable<service.ArchiveQuery["seen"]>;
type ArchivedObject = Extract<service.ArchiveRecord, { kind: "object" }>;

/** Kinds whose items have a definition, inline or in S3. */
const defining = new Set(["version", "publication"]);

/**
 * Limit of the bytes of definitions per page. A Lambda response has at most 6 MB, and JSON escapes add three quarters.
 */
const maxBytes = 2_000_000;

/** Returns an item with its definition redacted by `seen`. Returns an item without a definition unchanged. */
export async function redactItem(bucket: BucketConnection, item: db.Item, seen: Redact): Promise<db.Item> {
  if (!defining.has(kindOf(item))) return item;
  const definition = db.textIn(item, "definition");
  const [workflowId = "", hash = ""] = [db.textIn(item, "workflowId"), db.textIn(item, "hash")];
  const named = { workflowId, hash, version: db.numberIn(item, "version") ?? 0 };
  const whole = await readDefinition(bucket, { ...named, ...(definition !== undefined && { definition }) });
  const left = redactDefinition(whole, hash, seen);
  if (!left) return item;
  return {
    ...item,
    hash: db.textValue(left.hash),
    ...(definition !== undefined && { definition: db.textValue(left.text) }),
  };
}

/**
 * Redacts as many of the first definitions in `objects` as fit into `maxBytes`, but at least one. Returns only these.
 */
export async function redactObjects(bucket: BucketConnection, objects: readonly ArchivedObject[], seen: Redact) {
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

/**
 * Redacts a definition with the function `seen`. Returns the redacted text and its hash; undefined if `seen` removes
 * nothing.
 */
function redactDefinition(workflow: Workflow, hash: string, seen: Redact): { text: string; hash: string } | undefined {
  const left = seen(workflow);
  const [whole, leftHash] = [workflowHash(workflow), workflowHash(left)];
  if (whole === leftHash) return undefined;
  // A definition that was tampered with keeps its stored hash, so that it still fails verification after the redaction.
  return { text: JSON.stringify(left), hash: whole === hash ? leftHash : hash };
}
