import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Entity, type EntityItem, type Schema } from "electrodb";
import { reaching, reachingIf } from "../clients/outage.ts";
import { numbers } from "./fields.ts";
import { tableDefinition } from "./table-definition.ts";

/** The table and the client that every store of this folder shares. */
export interface TableConnection {
  client: DynamoDBDocumentClient;
  table: string;
}

type Attributes = Schema<string, string, string>["attributes"];
type Indexes = Schema<string, string, string>["indexes"];

/** What an outage is told of. */
export const store = "DynamoDB";

/** ElectroDB wraps errors, and takes a stack trace for that with every call: half of what it costs. */
export const plainly = { originalErr: true } as const;
export const consistently = { ...plainly, consistent: true } as const;

/**
 * A record of the table, by the name that is stored in its items: what its items hold besides the number of their format,
 * and where they lie.
 */
export function record<const A extends Attributes, const I extends Indexes>(entity: string, own: A, indexes: I) {
  const model = { service: "nova", entity, version: "1" };
  const attributes: A & typeof formatted = { ...own, ...formatted };
  return ({ client, table }: TableConnection) =>
    whenAsked(() => new Entity({ model, attributes, indexes }, { client, table }));
}

const formatted = numbers("format");

/** An item of a record as it is stored. */
// biome-ignore lint/suspicious/noExplicitAny: as ElectroDB bounds it
export type Stored<R extends (connection: TableConnection) => Entity<any, any, any, any>> = EntityItem<ReturnType<R>>;

type Names<Pattern extends string> = Pattern extends `${string}{${infer Name}}${infer Rest}`
  ? [Name, ...Names<Rest>]
  : [];

/** Keys of the table: `place("K#{id}", "K")`. */
export function place<const Partition extends string, const Sort extends string>(partition: Partition, sort: Sort) {
  return { pk: key("pk", partition), sk: key("sk", sort) };
}

/** Keys of one of its indexes. */
export function indexed<const Partition extends string, const Sort extends string>(
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
 * An entity that is made at its first use: ElectroDB takes a millisecond to look over the model of each, and a process
 * that runs nodes comes to a few of them.
 */
export function whenAsked<T extends object>(make: () => T): T {
  let made: T | undefined;
  return new Proxy({} as T, {
    get(_, name) {
      made ??= make();
      const value: unknown = Reflect.get(made, name);
      return typeof value === "function" ? value.bind(made) : value;
    },
  });
}

interface Asked<Options, Answer> {
  go(options: Options): Promise<Answer>;
}

/** Reads one item as it is. */
export async function read<T>(get: Asked<typeof consistently, { data: T }>): Promise<T> {
  return (await reaching(store, () => get.go(consistently))).data;
}

/** The same request; items come with the keys that they have in the table and in its indexes, and whatever their marks are. */
export function withKeys<Options, Answer>(request: Asked<Options & typeof keyed, Answer>): Asked<Options, Answer> {
  return { go: (options) => request.go({ ...options, ...keyed }) };
}

const keyed = { data: "includeKeys", ignoreOwnership: true } as const;

/** The same item as `shown` makes it; undefined where there is none. */
export async function found<T, Shown>(
  get: Asked<typeof consistently, { data: T | null }>,
  shown: (item: T) => Shown | Promise<Shown>,
): Promise<Shown | undefined> {
  const item = await read(get);
  return item === null ? undefined : shown(item);
}

/** Reads every item that a query finds, as they are. */
export async function readAll<T>(query: Asked<typeof wholly, { data: T[] }>): Promise<T[]> {
  return (await reaching(store, () => query.go(wholly))).data;
}

const wholly = { ...consistently, pages: "all" } as const;

interface ListOptions {
  consistent?: true;
  order?: "asc" | "desc";
  /** Items that DynamoDB looks at, for one page. */
  limit?: number;
  /** Items that are found, in as many pages as it takes. */
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

type PagedQuery<T> = Asked<typeof plainly & PageOptions, Page<T>>;

/** Reads one page of what a query finds, as its index has it. */
export function readPage<T>(query: PagedQuery<T>, options: PageOptions): Promise<Page<T>> {
  return reaching(store, () => query.go({ ...plainly, ...options }));
}

/** Reads the first items that a query finds. */
export async function readSome<T>(query: PagedQuery<T>, options: ListOptions): Promise<T[]> {
  return (await readPage(query, options)).data;
}

/** Everything that a query finds, page by page. */
export async function* each<T>(query: PagedQuery<T>, options: ListOptions = {}): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    const page: Page<T> = await readPage(query, { ...options, cursor });
    yield* page.data;
    cursor = page.cursor;
  } while (cursor);
}

// biome-ignore lint/suspicious/noExplicitAny: attributes and operations of whatever record it is
type Condition = (attributes: any, operations: any) => string;

/** Of a `where`: attributes have these values; undefined: any. */
export function having(wanted: Record<string, unknown>): Condition {
  const asked = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return (attributes, { eq }) => asked.map(([name, value]) => eq(attributes[name], value)).join(" AND ");
}

/** Of a `where`: attributes are as they were read; undefined: not there. */
export function unchanged(known: Record<string, unknown>): Condition {
  return (attributes, { eq, notExists }) =>
    Object.entries(known)
      .map(([name, value]) => (value === undefined ? notExists(attributes[name]) : eq(attributes[name], value)))
      .join(" AND ");
}

export async function write(change: Asked<typeof plainly, unknown>): Promise<void> {
  await reaching(store, () => change.go(plainly));
}

/** False where the condition of the change failed. */
export function writeIf(change: Asked<typeof plainly, unknown>): Promise<boolean> {
  return reachingIf(store, () => change.go(plainly));
}
