import type { ChainStore, EntryId, Link, RootNote, ScopeTip, Turn } from "@nova/engine";
import * as db from "./items.ts";

const lastSeq = 9_999_999_999;

/** Creates the store of the chain of work in DynamoDB. It uses only conditional puts and consistent reads. */
export function createChainStore(connection: db.ItemConnection): ChainStore {
  return {
    async readTail(at) {
      const { items } = await db.readRange(connection, between(at, [at.seq, db.ENTRY], [at.seq + 1, db.ENTRY]));
      const [first, second] = db.linksOf(items);
      const here = first?.seq === at.seq ? first.entry : undefined;
      const { scope: _, ...next } = (here ? second : first) ?? { scope: at.scope, seq: at.seq + 1 };
      return { ...(here && { here }), next };
    },
    async tip(execution, scope) {
      const { items } = await db.readRange(connection, {
        ...wholeScope(execution, scope),
        newestFirst: true,
        limit: 2,
      });
      return db.linksOf(items).map(({ scope: _, ...found }) => found);
    },
    async read(at) {
      const { items } = await db.readRange(connection, between(at, [at.seq, db.TURN], [at.seq, db.ENTRY]));
      const { scope: _, ...found } = db.linksOf(items)[0] ?? { scope: at.scope, seq: at.seq };
      return found;
    },
    putTurn: (at, turn, expected) =>
      db.putItem(connection, db.turnItem(at, turn), expected ? ifTurnUnchanged(expected) : db.ifAbsent),
    putEntry: (at, entry) => db.putItem(connection, db.entryItem(at, entry), db.ifAbsent),
    links: (execution, scope, from) => readLinks(connection, wholeScope(execution, scope, from)),
    entries: (execution, tips) => readEntries(connection, execution, tips),
    linksAt: (execution, places) => readLinksAt(connection, execution, places),
    putStep: (at, step) => db.putItem(connection, db.stepItem(at, step), db.ifAbsent),
    putNote: (execution, note) => db.putItem(connection, db.noteItem(execution, note), db.ifAbsent),
    async notes(execution) {
      const range = { partition: db.partitionKey(execution), keys: db.noteKeys };
      const pages = await Array.fromAsync(db.readRangePages(connection, range));
      return pages.flatMap(({ items }) => items.map(db.noteOf));
    },
    rootNotes: (executions) => readRootNotes(connection, executions),
    async steps(at) {
      const partition = db.chainPartition(at.execution, at.scope);
      const range = { partition: db.partitionKey(partition), keys: { prefix: db.stepPrefix(at.scope, at.seq) } };
      const pages = await Array.fromAsync(db.readRangePages(connection, range));
      return pages.flatMap(({ items }) => items.map((item) => db.stepOf(at, item)));
    },
  };
}

type EntryOrTurn = [seq: number, kind: db.LinkKind];

function between({ execution, scope }: Omit<EntryId, "seq">, from: EntryOrTurn, to: EntryOrTurn): db.KeyRange {
  return {
    partition: db.partitionKey(db.chainPartition(execution, scope)),
    keys: { from: db.linkKey(scope, ...from), to: db.linkKey(scope, ...to) },
  };
}

function wholeScope(execution: string, scope: string, from = 0): db.KeyRange {
  return between({ execution, scope }, [from, db.TURN], [lastSeq, db.ENTRY]);
}

function ifTurnUnchanged({ state, sandbox, attempt }: Turn): db.Condition {
  const sameSandbox = sandbox === null ? "attribute_not_exists(#sandbox)" : "#sandbox = :sandbox";
  return {
    ConditionExpression: `#state = :state AND ${sameSandbox} AND #attempt = :attempt`,
    ExpressionAttributeNames: { "#state": "state", "#sandbox": "sandbox", "#attempt": "attempt" },
    ExpressionAttributeValues: {
      ":state": db.textValue(state),
      ":attempt": db.numberValue(attempt),
      ...(sandbox !== null && { ":sandbox": db.textValue(sandbox) }),
    },
  };
}

/**
 * Reads turns and entries page by page. A page may end between the turn and the entry of the same number. So the
 * function keeps the last number of a page, and yields it with the next page.
 */
async function* readLinks(connection: db.ItemConnection, range: db.KeyRange): AsyncGenerator<Link> {
  let waiting: db.Item[] = [];
  let after: db.Item | undefined;
  do {
    const page = await db.readRange(connection, range, after);
    after = page.end;
    const items = waiting.length > 0 ? [...waiting, ...page.items] : page.items;
    waiting = after ? lastLinkOf(items) : [];
    for (const { scope: _, ...link } of db.eachLink(items.slice(0, items.length - waiting.length))) yield link;
  } while (after);
}

function lastLinkOf(items: db.Item[]): db.Item[] {
  const last = items.at(-1);
  if (!last) return [];
  const { scope, seq } = db.linkInKey(last);
  return items.filter((item) => {
    const link = db.linkInKey(item);
    return link.scope === scope && link.seq === seq;
  });
}

const maxParallelReads = 10;

/** Reads the entries of many scopes, a hundred per request. `tips` gives the length of each scope. */
async function readEntries(connection: db.ItemConnection, execution: string, tips: readonly ScopeTip[]) {
  const places = tips.flatMap(({ scope, seq }) =>
    Array.from({ length: seq }, (_, before) => ({ scope, seq: before + 1 })),
  );
  const found = new Map<string, Link[]>(tips.map(({ scope }) => [scope, []]));
  const keys = places.map((place) => keyAt(execution, place, db.ENTRY));
  for await (const items of inBatches(connection, keys)) {
    for (const { scope, ...link } of db.linksOf(items)) found.get(scope)?.push(link);
  }
  for (const links of found.values()) links.sort((a, b) => a.seq - b.seq);
  return found;
}

async function readLinksAt(connection: db.ItemConnection, execution: string, places: readonly ScopeTip[]) {
  const found = new Map<string, Link>();
  let missing = places;
  for (const kind of [db.ENTRY, db.TURN] as const) {
    const keys = missing.map((place) => keyAt(execution, place, kind));
    for await (const items of inBatches(connection, keys)) {
      for (const { scope, ...link } of db.linksOf(items)) found.set(scope, link);
    }
    missing = places.filter(({ scope }) => !found.has(scope));
  }
  return found;
}

async function readRootNotes(connection: db.ItemConnection, executions: readonly string[]) {
  const found = new Map<string, RootNote>();
  const keys = executions.map((execution) => ({ partition: db.partitionKey(execution), key: db.rootNoteKey }));
  for await (const items of inBatches(connection, keys)) {
    for (const item of items) {
      const note = db.noteOf(item);
      if (note.kind === "root") found.set(db.textIn(item, "partition") ?? "", note);
    }
  }
  return found;
}

function keyAt(execution: string, { scope, seq }: ScopeTip, kind: db.LinkKind) {
  return { partition: db.partitionKey(db.chainPartition(execution, scope)), key: db.linkKey(scope, seq, kind) };
}

/** Reads the items that exist under these keys, a few batches in parallel. */
async function* inBatches(connection: db.ItemConnection, keys: readonly db.ItemKey[]): AsyncGenerator<db.Item[]> {
  const batches = Array.from({ length: Math.ceil(keys.length / db.maxKeys) }, (_, number) =>
    keys.slice(number * db.maxKeys, (number + 1) * db.maxKeys),
  );
  for (let first = 0; first < batches.length; first += maxParallelReads) {
    const items = await Promise.all(
      batches.slice(first, first + maxParallelReads).map((batch) => db.readItems(connection, batch)),
    );
    yield items.flat();
  }
}
