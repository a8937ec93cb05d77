import type { ChainStore, Link, LinkId, Turn } from "@nova/engine";
import { type Item, numberValue, textValue } from "./attributes.ts";
import { type ChainConnection, ChainTable, type Condition, ifAbsent, type KeyRange } from "./chain-table.ts";
import { readEntries } from "./entries.ts";
import { chainPartition, ENTRY, type LinkKind, linkKey, stepPrefix, TURN } from "./keys.ts";
import { entryItem, linkOf, linksOf, turnItem } from "./link-item.ts";
import { stepItem, stepOf } from "./step-item.ts";

const lastSeq = 9_999_999_999;

/** The chain of work in DynamoDB: conditional puts and consistent reads, nothing else touches these partitions. */
export function createChainStore(connection: ChainConnection): ChainStore {
  const table = new ChainTable(connection);
  return {
    async readTail(at) {
      const { items } = await table.page(between(at, [at.seq, ENTRY], [at.seq + 1, ENTRY]));
      const [first, second] = linksOf(items);
      const here = first?.seq === at.seq ? first.entry : undefined;
      const { scope: _, ...next } = (here ? second : first) ?? { scope: at.scope, seq: at.seq + 1 };
      return { ...(here && { here }), next };
    },
    async tip(execution, scope) {
      const { items } = await table.page({ ...wholeScope(execution, scope), newestFirst: true, limit: 2 });
      return linksOf(items).map(({ scope: _, ...found }) => found);
    },
    async read(at) {
      const { items } = await table.page(between(at, [at.seq, TURN], [at.seq, ENTRY]));
      const { scope: _, ...found } = linksOf(items)[0] ?? { scope: at.scope, seq: at.seq };
      return found;
    },
    putTurn: (at, turn, expected) => table.put(turnItem(at, turn), expected ? ifStill(expected) : ifAbsent),
    putEntry: (at, entry) => table.put(entryItem(at, entry), ifAbsent),
    links: (execution, scope) => readLinks(table, wholeScope(execution, scope)),
    entries: (execution, tips) => readEntries(table, execution, tips),
    putStep: (at, step) => table.put(stepItem(at, step), ifAbsent),
    async steps(at) {
      const partition = chainPartition(at.execution, at.scope);
      const pages = await Array.fromAsync(table.pages({ partition, keys: { prefix: stepPrefix(at.scope, at.seq) } }));
      return pages.flatMap(({ items }) => items.map((item) => stepOf(at, item)));
    },
  };
}

type Place = [seq: number, kind: LinkKind];

function between({ execution, scope }: Omit<LinkId, "seq">, from: Place, to: Place): KeyRange {
  return {
    partition: chainPartition(execution, scope),
    keys: { from: linkKey(scope, ...from), to: linkKey(scope, ...to) },
  };
}

function wholeScope(execution: string, scope: string): KeyRange {
  return between({ execution, scope }, [0, TURN], [lastSeq, ENTRY]);
}

function ifStill({ state, sandbox, attempt }: Turn): Condition {
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

/** Page by page. A page may end within a link, so its last link waits for the next page. */
async function* readLinks(table: ChainTable, range: KeyRange): AsyncGenerator<Link> {
  let waiting: Item[] = [];
  for await (const page of table.pages(range)) {
    const items = [...waiting, ...page.items];
    waiting = page.isLast ? [] : lastLinkOf(items);
    for (const { scope: _, ...link } of linksOf(items.slice(0, items.length - waiting.length))) yield link;
  }
}

function lastLinkOf(items: Item[]): Item[] {
  const last = items.at(-1);
  if (!last) return [];
  const { scope, seq } = linkOf(last);
  return items.filter((item) => {
    const link = linkOf(item);
    return link.scope === scope && link.seq === seq;
  });
}
