import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CustomAttributeType, Entity, type EntityItem, type Schema } from "electrodb";
import { reportOutage, reportOutageIf } from "../clients/outage.ts";
import { documentMethods } from "./document-methods.ts";
import { tableDefinition } from "./table-definition.ts";

export const text = { type: "string" } as const;
export const requiredText = { type: "string", required: true } as const;

/** Builds a function that gives the same attribute definition to each name. */
const sameForAll =
  <const Kind>(kind: Kind) =>
  <const Name extends string>(...names: Name[]) =>
    Object.fromEntries(names.map((name) => [name, kind])) as Record<Name, Kind>;

export const texts = sameForAll(requiredText);
export const optionalTexts = sameForAll(text);
export const numbers = sameForAll({ type: "number", required: true });
export const optionalNumbers = sameForAll({ type: "number" });
/** The number of a version, padded so that keys sort numerically. */
export const versionNumber = { type: "number", required: true, padding: { length: 10, char: "0" } } as const;
/** A value that ElectroDB does not check. */
export const value = <T>() => ({ type: CustomAttributeType<T>("any" as never) });
export const requiredValue = <T>() => ({ ...value<T>(), required: true as const });
/** A value that is stored as JSON text, because DynamoDB maps cannot hold every JSON number and name. */
export const json = <T>() => ({
  ...value<T>(),
  set: (own?: T) => JSON.stringify(own) as T,
  get: (stored?: T): T | undefined => (stored === undefined ? undefined : JSON.parse(stored as string)),
});

/** Texts that sort before and after every id, slug and time. DynamoDB refuses an empty key. */
export const [beforeAll, afterAll] = [" ", "~"] as const;

type Absent = null | undefined;
/** Returns a copy of an object without the fields that are null or undefined. */
export function omitAbsent<T extends object>(fields: T) {
  const stored = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
  return stored as { [K in keyof T as Extract<T[K], Absent> extends never ? K : never]: T[K] } & {
    [K in keyof T as Extract<T[K], Absent> extends never ? never : K]?: Exclude<T[K], Absent>;
  };
}

/** Thrown for a stored record that this version of the code cannot read. */
export class UnknownFormat extends Error {
  override name = "UnknownFormat";
}

/** Format number of every item in the table. */
export const FORMAT = 1;

/**
 * Checks the format number of a record. Throws `UnknownFormat` if the number is not `FORMAT`. `what` names the record
 * in the message.
 */
export function checkFormat(what: string | (() => string), format: unknown): void {
  if (format === FORMAT) return;
  const name = typeof what === "string" ? what : what();
  throw new UnknownFormat(`${name} is stored in format ${String(format)}, this version reads ${FORMAT} - update NOVA`);
}

/** Checks the format of an item and returns the item with the format as a literal type. */
export function requireFormat<T extends { format: number }>(
  what: string,
  item: T,
): Omit<T, "format"> & { format: typeof FORMAT } {
  const { format, ...rest } = item;
  checkFormat(what, format);
  return { ...rest, format: FORMAT };
}

/** The table and the client that every store of this folder shares. */
export interface TableConnection {
  client: DynamoDBClient;
  table: string;
}

type Attributes = Schema<string, string, string>["attributes"];
type Indexes = Schema<string, string, string>["indexes"];

/** The name of the service in messages about outages. */
export const serviceName = "DynamoDB";

/**
 * With this option, ElectroDB passes on the errors of AWS. Otherwise it would create a stack trace in every call, which
 * takes half of the time of the call.
 */
export const plainOptions = { originalErr: true } as const;
export const consistentOptions = { ...plainOptions, consistent: true } as const;

/**
 * Defines a kind of record in the table. Its items store `entity` as their kind. They have the attributes in `own` and
 * the attribute `format`. `indexes` are their keys in the table and in the table's indexes.
 */
export function record<const A extends Attributes, const I extends Indexes>(entity: string, own: A, indexes: I) {
  const model = { service: "nova", entity, version: "1" };
  const attributes: A & typeof formatField = { ...own, ...formatField };
  return ({ client, table }: TableConnection) =>
    lazyObject(() => new Entity({ model, attributes, indexes }, { client: documentMethods(client), table }));
}

const formatField = numbers("format");

/** The type of a stored item, for a function that `record` has returned. */
// biome-ignore lint/suspicious/noExplicitAny: ElectroDB declares these parameters as any
export type Stored<R extends (connection: TableConnection) => Entity<any, any, any, any>> = EntityItem<ReturnType<R>>;

type Names<Pattern extends string> = Pattern extends `${string}{${infer Name}}${infer Rest}`
  ? [Name, ...Names<Rest>]
  : [];

/** Returns key patterns in the table itself: `tableKeys("K#{id}", "K")`. */
export function tableKeys<const Partition extends string, const Sort extends string>(partition: Partition, sort: Sort) {
  return { pk: key("pk", partition), sk: key("sk", sort) };
}

/** Returns key patterns in one of the table's indexes. */
export function indexKeys<const Partition extends string, const Sort extends string>(
  index: (typeof tableDefinition.indexes)[number]["name"],
  partition: Partition,
  sort: Sort,
) {
  const { partitionKey = "", sortKey = "" } = tableDefinition.indexes.find(({ name }) => name === index) ?? {};
  return { index, pk: key(partitionKey, partition), sk: key(sortKey, sort) };
}

function key<Pattern extends string>(field: string, pattern: Pattern) {
  const composite = Array.from(pattern.matchAll(/\{(\w+)\}/g), ([, name]) => name) as Names<Pattern>;
  const isAttribute = pattern === `{${field}}`;
  return {
    field,
    composite,
    casing: "none" as const,
    ...(!isAttribute && { template: pattern.replaceAll("{", "${") }),
  };
}

/**
 * Creates an object at its first use. ElectroDB needs a millisecond per entity to check its model, and a process that
 * runs nodes uses only a few of the entities.
 */
export function lazyObject<T extends object>(make: () => T): T {
  let made: T | undefined;
  return new Proxy({} as T, {
    get(_, name) {
      made ??= make();
      const value: unknown = Reflect.get(made, name);
      return typeof value === "function" ? value.bind(made) : value;
    },
  });
}

interface Request<Options, Answer> {
  go(options: Options): Promise<Answer>;
}

/** Reads one item with a consistent read; null if there is none. */
export async function readItem<T>(get: Request<typeof consistentOptions, { data: T }>): Promise<T> {
  return (await reportOutage(serviceName, () => get.go(consistentOptions))).data;
}

/**
 * Wraps a request so that items include their keys. The answer also contains items that lack ElectroDB's own
 * attributes.
 */
export function withKeys<Options, Answer>(
  request: Request<Options & typeof withKeysOptions, Answer>,
): Request<Options, Answer> {
  return { go: (options) => request.go({ ...options, ...withKeysOptions }) };
}

const withKeysOptions = { data: "includeKeys", ignoreOwnership: true } as const;

/** Reads one item and converts it with `toRecord`; undefined if there is none. */
export async function findItem<T, Shown>(
  get: Request<typeof consistentOptions, { data: T | null }>,
  toRecord: (item: T) => Shown | Promise<Shown>,
): Promise<Shown | undefined> {
  const item = await readItem(get);
  return item === null ? undefined : toRecord(item);
}

/** Reads every item of a query with consistent reads. */
export async function readAll<T>(query: Request<typeof allPages, { data: T[] }>): Promise<T[]> {
  return (await reportOutage(serviceName, () => query.go(allPages))).data;
}

const allPages = { ...consistentOptions, pages: "all" } as const;

interface ListOptions {
  consistent?: true;
  order?: "asc" | "desc";
  /** Number of items that DynamoDB examines for one page. It includes items that do not match. */
  limit?: number;
  /** Number of matching items to collect, over several pages if needed. */
  count?: number;
}

interface PageOptions extends ListOptions {
  cursor?: string | null;
  attributes?: "workflowId"[];
}

interface Page<T> {
  data: T[];
  cursor: string | null;
}

type PagedQuery<T> = Request<typeof plainOptions & PageOptions, Page<T>>;

/** Reads one page of a query. Index reads are eventually consistent. */
export function readPage<T>(query: PagedQuery<T>, options: PageOptions): Promise<Page<T>> {
  return reportOutage(serviceName, () => query.go({ ...plainOptions, ...options }));
}

/** Reads the first page of a query, and returns its items without a cursor. */
export async function readSome<T>(query: PagedQuery<T>, options: ListOptions): Promise<T[]> {
  return (await readPage(query, options)).data;
}

/** Yields every item of a query, read page by page. */
export async function* readEach<T>(query: PagedQuery<T>, options: ListOptions = {}): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    const page: Page<T> = await readPage(query, { ...options, cursor });
    yield* page.data;
    cursor = page.cursor;
  } while (cursor);
}

// biome-ignore lint/suspicious/noExplicitAny: attributes and operations differ between records
type Condition = (attributes: any, operations: any) => string;

/** Builds a `where` condition: each attribute has its value in `wanted`. An undefined value matches everything. */
export function hasValues(wanted: Record<string, unknown>): Condition {
  const asked = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return (attributes, { eq }) => {
    const choices = asked.map(([name, value]) => [value].flat().map((one) => eq(attributes[name], one)));
    return choices.map((equals) => `(${equals.join(" OR ")})`).join(" AND ");
  };
}

/**
 * Builds a `where` condition: each attribute still has its value in `known`. Undefined means that the attribute is
 * absent.
 */
export function isUnchanged(known: Record<string, unknown>): Condition {
  return (attributes, { eq, notExists }) =>
    Object.entries(known)
      .map(([name, value]) => (value === undefined ? notExists(attributes[name]) : eq(attributes[name], value)))
      .join(" AND ");
}

export async function writeItem(change: Request<typeof plainOptions, unknown>): Promise<void> {
  await reportOutage(serviceName, () => change.go(plainOptions));
}

/** Writes a change. Returns false if its condition failed. */
export function writeIf(change: Request<typeof plainOptions, unknown>): Promise<boolean> {
  return reportOutageIf(serviceName, () => change.go(plainOptions));
}

interface ItemUpdate {
  update: string;
  condition?: string;
  values?: Record<string, unknown>;
  /** Maps a placeholder to the attribute that it stands for. Absent: the placeholder is the name of the attribute. */
  names?: Record<string, string>;
}

/**
 * Updates one item without ElectroDB. In expressions, `#name` is the attribute `name`, and `:name` is its value in
 * `values`. Returns the new values of changed attributes; undefined if the condition failed.
 */
export async function updateItem(
  { client, table: TableName }: TableConnection,
  Key: { pk: string; sk: string },
  { update, condition, values, names = {} }: ItemUpdate,
): Promise<Record<string, unknown> | undefined> {
  const named = Object.entries(values ?? {}).map(([name, value]) => [`:${name}`, value]);
  const placeholders = Array.from([update, condition].join(" ").matchAll(/#(\w+)/g), ([, name = ""]) => name);
  const change = documentMethods(client).update({
    TableName,
    Key,
    ReturnValues: "UPDATED_NEW",
    UpdateExpression: update,
    ConditionExpression: condition,
    ExpressionAttributeNames: Object.fromEntries(placeholders.map((name) => [`#${name}`, names[name] ?? name])),
    // DynamoDB refuses an empty object.
    ExpressionAttributeValues: named.length > 0 ? Object.fromEntries(named) : undefined,
  });
  let changed: Record<string, unknown> | undefined;
  await reportOutageIf(serviceName, async () => {
    changed = ((await change.promise()).Attributes as Record<string, unknown> | undefined) ?? {};
  });
  return changed;
}
