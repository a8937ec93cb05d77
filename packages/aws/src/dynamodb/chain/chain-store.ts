import type { ChainStore, EntryId, Link, RootNote, ScopeTip, Turn } from "@nova/engine";
import {
  type Condition,
  chainPartition,
  ENTRY,
  eachLink,
  entryItem,
  type Item,
  type ItemConnection,
  type ItemKey,
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
  rootNoteKey,
  stepItem,
  stepOf,
  stepPrefix,
  TURN,
  textIn,
  textValue,
  turnItem,
} from "./items.ts";

const lastSeq = 9_999_999_999;

/** Stores the chain of work in DynamoDB. It uses only conditional puts and consistent reads. */
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
    links: (execution, scope, from) => readLinks(connection, wholeScope(execution, scope, from)),
    entries: (execution, tips) => readEntries(connection, execution, tips),
    linksAt: (execution, places) => readLinksAt(connection, execution, places),
    putStep: (at, step) => putItem(connection, stepItem(at, step), ifAbsent),
    putNote: (execution, note) => putItem(connection, noteItem(execution, note), ifAbsent),
    async notes(execution) {
      const range = { partition: partitionKey(execution), keys: noteKeys };
      const pages = await Array.fromAsync(readRangePages(connection, range));
      return pages.flatMap(({ items }) => items.map(noteOf));
    },
    rootNotes: (executions) => readRootNotes(connection, executions),
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

function wholeScope(execution: string, scope: string, from = 0): KeyRange {
  return between({ execution, scope }, [from, TURN], [lastSeq, ENTRY]);
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
 * Reads turns and entries page by page. A page may end between the turn and the entry of one number, so the last number
 * of a page is returned with the next page.
 */
async function* readLinks(connection: ItemConnection, range: KeyRange): AsyncGenerator<Link> {
  let waiting: Item[] = [];
  let after: Item | undefined;
  do {
    const page = await readRange(connection, range, after);
    after = page.end;
    const items = waiting.length > 0 ? [...waiting, ...page.items] : page.items;
    waiting = after ? lastLinkOf(items) : [];
    for (const { scope: _, ...link } of eachLink(items.slice(0, items.length - waiting.length))) yield link;
  } while (after);
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

const maxParallelReads = 10;

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
  let missing = places;
  for (const kind of [ENTRY, TURN] as const) {
    const keys = missing.map((place) => keyAt(execution, place, kind));
    for await (const items of inBatches(connection, keys)) {
      for (const { scope, ...link } of linksOf(items)) found.set(scope, link);
    }
    missing = places.filter(({ scope }) => !found.has(scope));
  }
  return found;
}

async function readRootNotes(
  connection: ItemConnection,
  executions: readonly string[],
): Promise<ReadonlyMap<string, RootNote>> {
  const found = new Map<string, RootNote>();
  const keys = executions.map((execution) => ({ partition: partitionKey(execution), key: rootNoteKey }));
  for await (const items of inBatches(connection, keys)) {
    for (const item of items) {
      const note = noteOf(item);
      if (note.kind === "root") found.set(textIn(item, "partition") ?? "", note);
    }
  }
  return found;
}

function keyAt(execution: string, { scope, seq }: ScopeTip, kind: LinkKind) {
  return { partition: partitionKey(chainPartition(execution, scope)), key: linkKey(scope, seq, kind) };
}

/** Reads the items that exist under these keys, a few batches in parallel. */
async function* inBatches(connection: ItemConnection, keys: readonly ItemKey[]): AsyncGenerator<Item[]> {
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
