import * as sdk from "@aws-sdk/client-dynamodb";
import type { ChainNote, EntryId, Link, RecordedTimes, Sandbox, StoredEntry, StoredStep, Turn } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { reportOutage, reportOutageIf } from "../../clients/outage.ts";
import { checkFormat, FORMAT } from "../records.ts";

export function turnItem(at: EntryId, turn: Turn): Item {
  const { node, state, sandbox, attempt, since, due, failedDeliveries, times, generation } = turn;
  const { kept, addresses, warm, released } = turn;
  return itemOf({
    ...linkKeys(at, TURN),
    node,
    state,
    sandbox,
    attempt,
    since,
    due,
    failed_deliveries: failedDeliveries,
    times: times && JSON.stringify(times),
    generation,
    kept: kept?.join(),
    addresses: addresses && JSON.stringify(addresses),
    warm: warm && JSON.stringify(warm),
    released: released && 1,
  });
}

export function entryItem(at: EntryId, { head, hash, contents, signature }: StoredEntry): Item {
  return itemOf({ ...linkKeys(at, ENTRY), head, hash, contents: contents as Values, signature });
}

function linkKeys(at: EntryId, kind: LinkKind): Values {
  return { ...commonValues(at, "link", linkKey(at.scope, at.seq, kind)), kind };
}

/**
 * Returns the attributes that all chain items have. Two of these attributes name the kind of the item for ElectroDB, as
 * in all items of the table.
 */
function commonValues({ execution, scope, seq }: EntryId, entity: string, sk: string): Values {
  const partition = chainPartition(execution, scope);
  const place = { pk: partitionKey(partition), sk, partition, scope, seq };
  return { ...place, format: FORMAT, __edb_e__: entity, __edb_v__: "1" };
}

/**
 * Returns the scope and entry number to which the item of a turn or an entry belongs. Throws `DamagedLink` if the
 * item's keys and attributes differ, for example because a person copied the item.
 */
export function linkOf(item: Item): { partition: string; scope: string; seq: number } {
  const place = storedLinkOf(item);
  const kind = textIn(item, "kind");
  const isHere = (kind === TURN || kind === ENTRY) && textIn(item, "sk") === linkKey(place.scope, place.seq, kind);
  if (isHere) return place;
  throw misplaced(item);
}

/**
 * Returns the scope and entry number in the attributes of a chain item, after comparing them with its partition key.
 */
function storedLinkOf(item: Item): { partition: string; scope: string; seq: number } {
  const [partition, scope, seq] = [textIn(item, "partition"), textIn(item, "scope"), numberIn(item, "seq")];
  if (partition === undefined || scope === undefined || seq === undefined)
    throw new DamagedLink(`the item "${textIn(item, "sk")}" of "${textIn(item, "pk")}" lacks its place - ${byHand}`);
  if (textIn(item, "pk") !== partitionKey(partition)) throw misplaced(item);
  return { partition, scope, seq };
}

function misplaced(item: Item): DamagedLink {
  const place = `"${textIn(item, "sk")}" of "${textIn(item, "pk")}"`;
  return new DamagedLink(`the item ${place} says that it belongs to another place - ${byHand}`);
}

type ScopedLink = { scope: string } & Link;

/** Combines the turn and the entry of each entry number. `items` are in key order or in reverse key order. */
export function linksOf(items: Iterable<Item>): ScopedLink[] {
  return Array.from(eachLink(items));
}

/**
 * Yields what `linksOf` returns, one entry number at a time. An unreadable item throws only when the iteration reaches
 * its number.
 */
export function* eachLink(items: Iterable<Item>): Generator<ScopedLink> {
  let link: ScopedLink | undefined;
  for (const item of items) {
    const { scope, seq } = linkInKey(item);
    if (link && (link.scope !== scope || link.seq !== seq)) {
      yield link;
      link = undefined;
    }
    linkOf(item);
    link ??= { scope, seq };
    if (textIn(item, "kind") === TURN) link.turn = turnOf(item);
    else link.entry = entryOf(item);
  }
  if (link) yield link;
}

/** Returns the scope and entry number in the sort key of an item, without a check of its attributes. */
export function linkInKey(item: Item): { scope: string; seq: number } {
  const [, scope, seq] = /^L#(.*)#(\d{10})#[01]$/s.exec(textIn(item, "sk") ?? "") ?? [];
  if (scope === undefined) throw misplaced(item);
  return { scope, seq: Number(seq) };
}

function turnOf(item: Item): Turn {
  checkFormat(() => nameOf("turn", item), numberIn(item, "format"));
  const { node, state, since, attempt, sandbox = null, ...more } = valuesOf(item) as Partial<StoredTurn>;
  if (!node || !isState(state) || attempt === undefined || !since) throw damaged("turn", item);
  return {
    node,
    state,
    attempt,
    since,
    sandbox,
    ...defined({
      due: more.due,
      failedDeliveries: more.failed_deliveries,
      times: more.times === undefined ? undefined : (JSON.parse(more.times) as RecordedTimes),
      generation: more.generation,
      kept: more.kept?.split(",").map(Number),
      addresses: more.addresses === undefined ? undefined : (JSON.parse(more.addresses) as Record<string, string[]>),
      warm: more.warm === undefined ? undefined : (JSON.parse(more.warm) as Sandbox),
      released: more.released === 1 ? (true as const) : undefined,
    }),
  };
}

type StoredTurn = Record<
  "node" | "state" | "since" | "sandbox" | "due" | "generation" | "kept" | "addresses" | "warm" | "times",
  string
> &
  Record<"attempt" | "failed_deliveries" | "released", number>;

function isState(state: string | undefined): state is Turn["state"] {
  return state === "held" || state === "failing" || state === "closed";
}

function entryOf(item: Item): StoredEntry {
  checkFormat(() => nameOf("entry", item), numberIn(item, "format"));
  const [head, hash, signature] = [textIn(item, "head"), textIn(item, "hash"), textIn(item, "signature")];
  if (head === undefined || hash === undefined) throw damaged("entry", item);
  const contents = valuesOf(item.contents?.M ?? {}) as StoredEntry["contents"];
  return signature === undefined ? { head, hash, contents } : { head, hash, contents, signature };
}

/** Thrown if a chain item lacks required fields, or is stored under a wrong key. */
export class DamagedLink extends Error {
  override name = "DamagedLink";
}

const byHand = "the table was edited by hand";

function damaged(kind: "turn" | "entry", item: Item): DamagedLink {
  return new DamagedLink(`${nameOf(kind, item)} lacks fields - ${byHand}`);
}

function nameOf(kind: "turn" | "entry", item: Item): string {
  const { partition, scope, seq } = linkOf(item);
  return `the ${kind} at link ${seq} of ${partition}${scope}`;
}

/**
 * Builds the item of a step: one call of a model inside a node, or one test of the model's code. The item is in the
 * same partition as the entry of the node.
 */
export function stepItem(at: EntryId, { step, text, hash, contents }: StoredStep): Item {
  return itemOf({
    ...commonValues(at, "step", stepKey(at.scope, at.seq, step)),
    step,
    text,
    hash,
    contents: contents as Values,
  });
}

export function stepOf(at: EntryId, item: Item): StoredStep {
  const step = numberIn(item, "step") ?? 0;
  const { scope, seq } = storedLinkOf(item);
  if (textIn(item, "sk") !== stepKey(scope, seq, step)) throw misplaced(item);
  checkFormat(`step ${step} of link ${at.seq} of ${at.execution}`, numberIn(item, "format"));
  const { text = "", hash = "", contents } = valuesOf(item) as Partial<StoredStep>;
  return { step, text, hash, ...defined({ contents }) };
}

const notePrefix = "N#";
export const rootNoteKey = `${notePrefix}root`;

export function noteItem(execution: string, note: ChainNote): Item {
  const key = notePrefix + (note.kind === "restart" ? `${note.kind}#${note.execution}` : note.kind);
  const { kind, ...own } = note.kind === "restart" ? { kind: note.kind, restart: note.execution } : note;
  const at = { execution, scope: "", seq: 0 };
  return itemOf({ ...commonValues(at, "note", key), kind, ...own });
}

export const noteKeys = { prefix: notePrefix };

export function noteOf(item: Item): ChainNote {
  const { partition } = storedLinkOf(item);
  checkFormat(`a note of ${partition}`, numberIn(item, "format"));
  const note = storedNote(item);
  if (note && noteItem(partition, note).sk?.S === textIn(item, "sk")) return note;
  throw new DamagedLink(`the note "${textIn(item, "sk")}" of ${partition} is not as NOVA writes it - ${byHand}`);
}

function storedNote(item: Item): ChainNote | undefined {
  const [kind, restart, signature] = ["kind", "restart", "signature"].map((name) => textIn(item, name));
  const [number, index] = [numberIn(item, "number"), numberIn(item, "index")];
  if (kind === "erased" && signature !== undefined) return { kind, signature };
  if (kind === "restart" && restart !== undefined) return { kind, execution: restart };
  if (kind === "root" && number !== undefined && index !== undefined) return { kind, number, index };
  return undefined;
}

/**
 * An item as DynamoDB's plain client takes it. Chain items are not mapped by ElectroDB, because every node would pay
 * for the mapping.
 */
export type Item = Record<string, sdk.AttributeValue>;

/** A table and its client. A document client also accepts the plain commands. */
export interface ItemConnection {
  client: Pick<sdk.DynamoDBClient, "send">;
  table: string;
}

export function textValue(text: string): sdk.AttributeValue {
  return { S: text };
}

export function numberValue(value: number): sdk.AttributeValue {
  return { N: String(value) };
}

export function textIn(item: Item, name: string): string | undefined {
  return item[name]?.S;
}

export function numberIn(item: Item, name: string): number | undefined {
  const digits = item[name]?.N;
  return digits === undefined ? undefined : Number(digits);
}

/** Plain values of an item. Values that are null or undefined are not stored. */
export type Values = { [name: string]: string | number | Values | null | undefined };

export function itemOf(values: Values): Item {
  const item: Item = {};
  for (const name in values) {
    const value = values[name];
    if (value == null) continue;
    item[name] =
      typeof value === "string"
        ? { S: value }
        : typeof value === "number"
          ? { N: String(value) }
          : { M: itemOf(value) };
  }
  return item;
}

export function valuesOf(item: Item): Values {
  const values: Values = {};
  for (const name in item) {
    const { S, N, M } = item[name] as sdk.AttributeValue;
    values[name] = S ?? (M ? valuesOf(M) : N === undefined ? undefined : Number(N));
  }
  return values;
}

/**
 * The last part of the sort key of a turn, and of an entry. A turn sorts directly before the entry of the same number.
 */
export const TURN = "0";
export const ENTRY = "1";
export type LinkKind = typeof TURN | typeof ENTRY;

/**
 * Returns the partition of the entries of a scope: the execution, with the scope up to the innermost map item. So each
 * item of a map has its own partition. In a single partition, ten thousand items would exceed the limit of 1,000 writes
 * a second. If the name of a branch consists of digits, the branch is a map item.
 */
export function chainPartition(execution: string, scope: string): string {
  const [item = ""] = /^.*\.\d+(?=\/|$)/.exec(scope) ?? [];
  return execution + item;
}

export function partitionKey(partition: string): string {
  return `C#${partition}`;
}

export function linkKey(scope: string, seq: number, kind: LinkKind): string {
  return `L#${scope}#${padded(seq, 10)}#${kind}`;
}

/** Returns the prefix of the sort keys of all steps that belong to one entry. */
export function stepPrefix(scope: string, seq: number): string {
  return `S#${scope}#${padded(seq, 10)}#`;
}

export function stepKey(scope: string, seq: number, step: number): string {
  return stepPrefix(scope, seq) + padded(step, 4);
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}

export type Condition = Pick<
  sdk.PutItemCommandInput,
  "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/** Sort keys of one partition: all keys, the keys with a prefix, or a range that includes both ends. */
export interface KeyRange {
  partition: string;
  keys?: { prefix: string } | { from: string; to: string };
  newestFirst?: boolean;
  limit?: number;
}

export interface ItemKey {
  partition: string;
  key: string;
}

/** DynamoDB allows this many items in one request of BatchGetItem. */
export const maxKeys = 100;

export const ifAbsent: Condition = {
  ConditionExpression: "attribute_not_exists(#pk) AND attribute_not_exists(#sk)",
  ExpressionAttributeNames: { "#pk": "pk", "#sk": "sk" },
};

/** Writes an item. Returns false if the condition failed. */
export function putItem({ client, table }: ItemConnection, item: Item, condition: Condition): Promise<boolean> {
  return reportOutageIf("DynamoDB", () =>
    client.send(new sdk.PutItemCommand({ TableName: table, Item: item, ...condition })),
  );
}

/** Reads one page; `after` is the end of the previous page. */
export async function readRange({ client, table }: ItemConnection, range: KeyRange, after?: Item) {
  const command = new sdk.QueryCommand({
    TableName: table,
    ConsistentRead: true,
    ...conditionOf(range),
    ...defined({
      Limit: range.limit,
      ExclusiveStartKey: after,
      ScanIndexForward: range.newestFirst ? false : undefined,
    }),
  });
  const { Items = [], LastEvaluatedKey } = await reportOutage("DynamoDB", () => client.send(command));
  return { items: Items, end: LastEvaluatedKey };
}

export async function* readRangePages(connection: ItemConnection, range: KeyRange) {
  let after: Item | undefined;
  do {
    const { items, end } = await readRange(connection, range, after);
    after = end;
    yield { items, isLast: !end };
  } while (after);
}

/** Reads one item; undefined if there is none. */
export async function readOne({ client, table }: ItemConnection, { partition, key }: ItemKey) {
  const Key = { pk: textValue(partition), sk: textValue(key) };
  const get = new sdk.GetItemCommand({ TableName: table, Key, ConsistentRead: true });
  return (await reportOutage("DynamoDB", () => client.send(get))).Item;
}

/** Reads the items that exist under these keys, in any order, at most `maxKeys` per request. */
export async function readItems({ client, table }: ItemConnection, keys: readonly ItemKey[]): Promise<Item[]> {
  const found: Item[] = [];
  let due = keys.map(({ partition, key }) => ({ pk: textValue(partition), sk: textValue(key) }));
  while (due.length > 0) {
    const asked = { [table]: { Keys: due.splice(0, maxKeys), ConsistentRead: true } };
    const command = new sdk.BatchGetItemCommand({ RequestItems: asked });
    const { Responses, UnprocessedKeys } = await reportOutage("DynamoDB", () => client.send(command));
    found.push(...(Responses?.[table] ?? []));
    // DynamoDB returns at most 16 MB per request, and lists the keys of the items that it has left out. These items are
    // requested again.
    due = [...((UnprocessedKeys?.[table]?.Keys as typeof due | undefined) ?? []), ...due];
  }
  return found;
}

function conditionOf({ partition, keys = { prefix: "" } }: KeyRange) {
  const [from, to] = "prefix" in keys ? [keys.prefix] : [keys.from, keys.to];
  const wanted = to === undefined ? from !== "" && " AND begins_with(#sk, :from)" : " AND #sk BETWEEN :from AND :to";
  return {
    KeyConditionExpression: `#pk = :pk${wanted || ""}`,
    ExpressionAttributeNames: { "#pk": "pk", ...(wanted && { "#sk": "sk" }) },
    ExpressionAttributeValues: {
      ":pk": textValue(partition),
      ...(wanted && { ":from": textValue(from) }),
      ...(to !== undefined && { ":to": textValue(to) }),
    },
  };
}
