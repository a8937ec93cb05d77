import type { ChainStore, EntryId, Link, ScopeTip, Turn } from "@nova/engine";
import {
  type Condition,
  chainPartition,
  ENTRY,
  eachLink,
  entryItem,
  type Item,
  type ItemConnection,
  ifAbsent,
  type KeyRange,
  type LinkKind,
  linkInKey,
  linkKey,
  linksOf,
  maxKeys,
  noteItem,
  noteKeys,
  noteOf,
  numberValue,
  partitionKey,
  putItem,
  readItems,
  readRange,
  readRangePages,
  stepItem,
  stepOf,
  stepPrefix,
  TURN,
  textValue,
  turnItem,
} from "./items.ts";

const lastSeq = 9_999_999_999;

/** The chain of work in DynamoDB. It uses only conditional puts and consistent reads. */
export function createChainStore(connection: ItemConnection): ChainStore {
  return {
    async readTail(at) {
      const { items } = await readRange(connection, between(at, [at.seq, ENTRY], [at.seq + 1, ENTRY]));
      const [first, second] = linksOf(items);
      const here = first?.seq === at.seq ? first.entry : undefined;
      const { scope: _, ...next } = (here ? second : first) ?? { scope: at.scope, seq: at.seq + 1 };
      return { ...(here && { here }), next };
    },
    async tip(execution, scope) {
      const { items } = await readRange(connection, { ...wholeScope(execution, scope), newestFirst: true, limit: 2 });
      return linksOf(items).map(({ scope: _, ...found }) => found);
    },
    async read(at) {
      const { items } = await readRange(connection, between(at, [at.seq, TURN], [at.seq, ENTRY]));
      const { scope: _, ...found } = linksOf(items)[0] ?? { scope: at.scope, seq: at.seq };
      return found;
    },
    putTurn: (at, turn, expected) =>
      putItem(connection, turnItem(at, turn), expected ? ifTurnUnchanged(expected) : ifAbsent),
    putEntry: (at, entry) => putItem(connection, entryItem(at, entry), ifAbsent),
    links: (execution, scope) => readLinks(connection, wholeScope(execution, scope)),
    entries: (execution, tips) => readEntries(connection, execution, tips),
    linksAt: (execution, places) => readLinksAt(connection, execution, places),
    putStep: (at, step) => putItem(connection, stepItem(at, step), ifAbsent),
    putNote: (execution, note) => putItem(connection, noteItem(execution, note), ifAbsent),
    async notes(execution) {
      const range = { partition: partitionKey(execution), keys: noteKeys };
      const pages = await Array.fromAsync(readRangePages(connection, range));
      return pages.flatMap(({ items }) => items.map(noteOf));
    },
    async steps(at) {
      const partition = chainPartition(at.execution, at.scope);
      const range = { partition: partitionKey(partition), keys: { prefix: stepPrefix(at.scope, at.seq) } };
      const pages = await Array.fromAsync(readRangePages(connection, range));
      return pages.flatMap(({ items }) => items.map((item) => stepOf(at, item)));
    },
  };
}

type EntryOrTurn = [seq: number, kind: LinkKind];

function between({ execution, scope }: Omit<EntryId, "seq">, from: EntryOrTurn, to: EntryOrTurn): KeyRange {
  return {
    partition: partitionKey(chainPartition(execution, scope)),
    keys: { from: linkKey(scope, ...from), to: linkKey(scope, ...to) },
  };
}

function wholeScope(execution: string, scope: string): KeyRange {
  return between({ execution, scope }, [0, TURN], [lastSeq, ENTRY]);
}

function ifTurnUnchanged({ state, sandbox, attempt }: Turn): Condition {
  const sameSandbox = sandbox === null ? "attribute_not_exists(#sandbox)" : "#sandbox = :sandbox";
  return {
    ConditionExpression: `#state = :state AND ${sameSandbox} AND #attempt = :attempt`,
    ExpressionAttributeNames: { "#state": "state", "#sandbox": "sandbox", "#attempt": "attempt" },
    ExpressionAttributeValues: {
      ":state": textValue(state),
      ":attempt": numberValue(attempt),
      ...(sandbox !== null && { ":sandbox": textValue(sandbox) }),
    },
  };
}

/**
 * Reads links page by page. A page may end between the two items of a link, so the last link of a page is returned with
 * the next page.
 */
async function* readLinks(connection: ItemConnection, range: KeyRange): AsyncGenerator<Link> {
  let waiting: Item[] = [];
  for await (const page of readRangePages(connection, range)) {
    const items = [...waiting, ...page.items];
    waiting = page.isLast ? [] : lastLinkOf(items);
    for (const { scope: _, ...link } of eachLink(items.slice(0, items.length - waiting.length))) yield link;
  }
}

function lastLinkOf(items: Item[]): Item[] {
  const last = items.at(-1);
  if (!last) return [];
  const { scope, seq } = linkInKey(last);
  return items.filter((item) => {
    const link = linkInKey(item);
    return link.scope === scope && link.seq === seq;
  });
}

const maxParallelReads = 4;

/** Reads the entries of many scopes, a hundred per request. `tips` gives the length of each scope. */
async function readEntries(
  connection: ItemConnection,
  execution: string,
  tips: readonly ScopeTip[],
): Promise<ReadonlyMap<string, Link[]>> {
  const places = tips.flatMap(({ scope, seq }) =>
    Array.from({ length: seq }, (_, before) => ({ scope, seq: before + 1 })),
  );
  const found = new Map<string, Link[]>(tips.map(({ scope }) => [scope, []]));
  const keys = places.map((place) => keyAt(execution, place, ENTRY));
  for await (const items of inBatches(connection, keys)) {
    for (const { scope, ...link } of linksOf(items)) found.get(scope)?.push(link);
  }
  for (const links of found.values()) links.sort((a, b) => a.seq - b.seq);
  return found;
}

async function readLinksAt(
  connection: ItemConnection,
  execution: string,
  places: readonly ScopeTip[],
): Promise<ReadonlyMap<string, Link>> {
  const found = new Map<string, Link>();
  const keys = places.flatMap((place) => [keyAt(execution, place, TURN), keyAt(execution, place, ENTRY)]);
  for await (const items of inBatches(connection, keys)) {
    // A batch returns items in any order, and a link's turn and entry may be in different batches.
    for (const { scope, ...link } of items.flatMap((item) => linksOf([item]))) {
      found.set(scope, { ...found.get(scope), ...link });
    }
  }
  return found;
}

function keyAt(execution: string, { scope, seq }: ScopeTip, kind: LinkKind) {
  return { partition: partitionKey(chainPartition(execution, scope)), key: linkKey(scope, seq, kind) };
}

/** Reads the items that exist under these keys, a few batches in parallel. */
async function* inBatches(
  connection: ItemConnection,
  keys: readonly ReturnType<typeof keyAt>[],
): AsyncGenerator<Item[]> {
  const batches = Array.from({ length: Math.ceil(keys.length / maxKeys) }, (_, number) =>
    keys.slice(number * maxKeys, (number + 1) * maxKeys),
  );
  for (let first = 0; first < batches.length; first += maxParallelReads) {
    const items = await Promise.all(
      batches.slice(first, first + maxParallelReads).map((batch) => readItems(connection, batch)),
    );
    yield items.flat();
  }
}
