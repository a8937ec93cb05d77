import {
  type AttributeValue,
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
} from "@aws-sdk/client-dynamodb";
import type { ChainNote, EntryId, Link, Sandbox, StoredEntry, StoredStep, Turn } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { reportOutage, reportOutageIf } from "../../clients/outage.ts";
import { checkFormat, FORMAT } from "../records.ts";

export function turnItem(at: EntryId, turn: Turn): Item {
  const { node, state, sandbox, attempt, since, due, failedDeliveries, generation, kept, addresses, warm } = turn;
  return itemOf({
    ...linkKeys(at, TURN),
    node,
    state,
    sandbox,
    attempt,
    since,
    due,
    failed_deliveries: failedDeliveries,
    generation,
    kept: kept?.join(),
    addresses: addresses && JSON.stringify(addresses),
    warm: warm && JSON.stringify(warm),
  });
}

export function entryItem(at: EntryId, { head, hash, contents, signature }: StoredEntry): Item {
  return itemOf({ ...linkKeys(at, ENTRY), head, hash, contents: contents as Values, signature });
}

function linkKeys(at: EntryId, kind: LinkKind): Values {
  return { ...commonValues(at, "link", linkKey(at.scope, at.seq, kind)), kind };
}

/** Values of every chain item, including ElectroDB's ownership marks, which the table's other records have too. */
function commonValues({ execution, scope, seq }: EntryId, entity: string, sk: string): Values {
  const partition = chainPartition(execution, scope);
  const place = { pk: partitionKey(partition), sk, partition, scope, seq };
  return { ...place, format: FORMAT, __edb_e__: entity, __edb_v__: "1" };
}

/**
 * Returns the link to which an item belongs. Throws `DamagedLink` if the item's keys and attributes differ, as after a
 * copy by hand.
 */
export function linkOf(item: Item): { partition: string; scope: string; seq: number } {
  const place = storedLinkOf(item);
  const kind = textIn(item, "kind");
  const isHere = (kind === TURN || kind === ENTRY) && textIn(item, "sk") === linkKey(place.scope, place.seq, kind);
  if (isHere) return place;
  throw misplaced(item);
}

/** The link that the attributes of a chain item name, checked against its partition key. */
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

/** Combines items into links. `items` are in key order or in reverse key order. */
export function linksOf(items: Iterable<Item>): ScopedLink[] {
  return Array.from(eachLink(items));
}

/** Like `linksOf`, link by link: an unreadable item throws only when its own link is reached. */
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

/** The link that the sort key of an item names, without a check of its attributes. */
export function linkInKey(item: Item): { scope: string; seq: number } {
  const [, scope, seq] = /^L#(.*)#(\d{10})#[01]$/s.exec(textIn(item, "sk") ?? "") ?? [];
  if (scope === undefined) throw misplaced(item);
  return { scope, seq: Number(seq) };
}

function turnOf(item: Item): Turn {
  checkFormat(nameOf("turn", item), numberIn(item, "format"));
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
      generation: more.generation,
      kept: more.kept?.split(",").map(Number),
      addresses: more.addresses === undefined ? undefined : (JSON.parse(more.addresses) as Record<string, string[]>),
      warm: more.warm === undefined ? undefined : (JSON.parse(more.warm) as Sandbox),
    }),
  };
}

type StoredTurn = Record<
  "node" | "state" | "since" | "sandbox" | "due" | "generation" | "kept" | "addresses" | "warm",
  string
> &
  Record<"attempt" | "failed_deliveries", number>;

function isState(state: string | undefined): state is Turn["state"] {
  return state === "held" || state === "failing" || state === "closed";
}

function entryOf(item: Item): StoredEntry {
  checkFormat(nameOf("entry", item), numberIn(item, "format"));
  const { head, hash, signature, contents = {} } = valuesOf(item) as Partial<StoredEntry>;
  if (head === undefined || hash === undefined) throw damaged("entry", item);
  return { head, hash, contents, ...defined({ signature }) };
}

/** A chain item lacks required fields, or is stored under a wrong key. */
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

/** Builds the item of a step, which is one agent run of a node. It is in the partition of its link. */
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

export function noteItem(execution: string, note: ChainNote): Item {
  const restart = note.kind === "restart" ? note.execution : undefined;
  const key = notePrefix + (restart === undefined ? note.kind : `${note.kind}#${restart}`);
  const signature = note.kind === "erased" ? note.signature : undefined;
  const at = { execution, scope: "", seq: 0 };
  return itemOf({ ...commonValues(at, "note", key), kind: note.kind, restart, signature });
}

export const noteKeys = { prefix: notePrefix };

export function noteOf(item: Item): ChainNote {
  const { partition } = storedLinkOf(item);
  checkFormat(`a note of ${partition}`, numberIn(item, "format"));
  const [kind, restart, signature] = ["kind", "restart", "signature"].map((name) => textIn(item, name));
  const note: ChainNote | undefined =
    kind === "erased" && signature !== undefined
      ? { kind, signature }
      : kind === "restart" && restart !== undefined
        ? { kind, execution: restart }
        : undefined;
  if (note && noteItem(partition, note).sk?.S === textIn(item, "sk")) return note;
  throw new DamagedLink(`the note "${textIn(item, "sk")}" of ${partition} is not as NOVA writes it - ${byHand}`);
}

/** An item in DynamoDB's own form. Chain items skip ElectroDB, because every node would pay for its mapping. */
export type Item = Record<string, AttributeValue>;

/** A table and its client. A document client also accepts the plain commands. */
export interface ItemConnection {
  client: Pick<DynamoDBClient, "send">;
  table: string;
}

export function textValue(text: string): AttributeValue {
  return { S: text };
}

export function numberValue(value: number): AttributeValue {
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
    const { S, N, M } = item[name] as AttributeValue;
    values[name] = S ?? (M ? valuesOf(M) : N === undefined ? undefined : Number(N));
  }
  return values;
}

/** Last part of a sort key. A turn sorts directly before the entry of the same number. */
export const TURN = "0";
export const ENTRY = "1";
export type LinkKind = typeof TURN | typeof ENTRY;

/**
 * Partition of a link: the execution, with the scope up to the innermost map item. So each item of a map has its own
 * partition: ten thousand items would exceed the 1,000 writes a second of a single one. A branch name that consists of
 * digits is a map item.
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

/** Prefix of the sort keys of a link's steps. */
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
  PutItemCommandInput,
  "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/** Sort keys of one partition: all, those with a prefix, or a range with both ends. */
export interface KeyRange {
  partition: string;
  keys?: { prefix: string } | { from: string; to: string };
  newestFirst?: boolean;
  limit?: number;
}

interface ItemKey {
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
    client.send(new PutItemCommand({ TableName: table, Item: item, ...condition })),
  );
}

/** Reads one page; `after` is the end of the previous page. */
export async function readRange({ client, table }: ItemConnection, range: KeyRange, after?: Item) {
  const command = new QueryCommand({
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
export async function readOne(
  { client, table }: ItemConnection,
  { partition, key }: ItemKey,
): Promise<Item | undefined> {
  const Key = { pk: textValue(partition), sk: textValue(key) };
  const get = new GetItemCommand({ TableName: table, Key, ConsistentRead: true });
  return (await reportOutage("DynamoDB", () => client.send(get))).Item;
}

/** Reads the items that exist under these keys, in any order, at most `maxKeys` per request. */
export async function readItems({ client, table }: ItemConnection, keys: readonly ItemKey[]): Promise<Item[]> {
  const found: Item[] = [];
  let due = keys.map(({ partition, key }) => ({ pk: textValue(partition), sk: textValue(key) }));
  while (due.length > 0) {
    const asked = { [table]: { Keys: due.splice(0, maxKeys), ConsistentRead: true } };
    const command = new BatchGetItemCommand({ RequestItems: asked });
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
