import type { ChainStore, Link, LinkId, Turn } from "@nova/engine";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly } from "../options.ts";
import { ENTRY, type LinkEntity, type LinkItem, linkEntity, TURN } from "./link-entity.ts";
import { entryItem, linksOf, turnItem } from "./link-item.ts";
import { chainPartition } from "./partition.ts";
import { stepEntity } from "./step-entity.ts";

/** The keys say what an item is; ElectroDB's ownership attributes as well would only cost filters. */
const strongly = { ...consistently, ignoreOwnership: true } as const;
const store = "DynamoDB";
const lastSeq = 9_999_999_999;

/** The chain of work in DynamoDB: conditional puts and consistent reads, nothing else touches these partitions. */
export function createChainStore(connection: TableConnection): ChainStore {
  const link = linkEntity(connection);
  return {
    async readTail(at) {
      const items = await itemsBetween(link, at, [at.seq, ENTRY], [at.seq + 1, ENTRY]);
      const [first, second] = linksOf(items);
      const here = first?.seq === at.seq ? first.entry : undefined;
      const { scope: _, ...next } = (here ? second : first) ?? { scope: at.scope, seq: at.seq + 1 };
      return { ...(here && { here }), next };
    },
    async tip(execution, scope) {
      const items = await itemsBetween(link, { execution, scope }, [0, TURN], [lastSeq, ENTRY], {
        order: "desc",
        limit: 2,
      });
      return linksOf(items).map(({ scope: _, ...found }) => found);
    },
    async read(at) {
      const items = await itemsBetween(link, at, [at.seq, TURN], [at.seq, ENTRY]);
      const { scope: _, ...found } = linksOf(items)[0] ?? { scope: at.scope, seq: at.seq };
      return found;
    },
    putTurn: (at, turn, expected) => putTurn(link, at, turn, expected),
    putEntry: (at, entry) => reachingIf(store, () => link.create(entryItem(at, entry)).go(plainly)),
    links: (execution) => readLinks(link, execution),
    ...steps(connection),
  };
}

type Place = [seq: number, kind: LinkItem["kind"]];

async function itemsBetween(
  link: LinkEntity,
  { execution, scope }: Omit<LinkId, "seq">,
  [fromSeq, fromKind]: Place,
  [toSeq, toKind]: Place,
  options: { order?: "desc"; limit?: number } = {},
): Promise<LinkItem[]> {
  const partition = chainPartition(execution, scope);
  const query = link.query
    .chain({ partition })
    .between({ scope, seq: fromSeq, kind: fromKind }, { scope, seq: toSeq, kind: toKind });
  return (await reaching(store, () => query.go({ ...strongly, ...options }))).data;
}

function putTurn(link: LinkEntity, at: LinkId, turn: Turn, expected: Turn | null): Promise<boolean> {
  const item = turnItem(at, turn);
  if (!expected) return reachingIf(store, () => link.create(item).go(plainly));
  const replacement = link.put(item).where(({ state, sandbox, attempt }, { eq, notExists }) => {
    const sameSandbox = expected.sandbox === null ? notExists(sandbox) : eq(sandbox, expected.sandbox);
    return `${eq(state, expected.state)} AND ${sameSandbox} AND ${eq(attempt, expected.attempt)}`;
  });
  return reachingIf(store, () => replacement.go(plainly));
}

/** Page by page. A page may end within a link, so its last link waits for the next page. */
async function* readLinks(link: LinkEntity, execution: string): AsyncGenerator<{ scope: string } & Link> {
  const query = link.query.chain({ partition: chainPartition(execution, "") });
  let cursor: string | null = null;
  let waiting: LinkItem[] = [];
  do {
    const page = await reaching(store, () => query.go({ ...strongly, cursor }));
    const items = [...waiting, ...page.data];
    cursor = page.cursor;
    const last = items.at(-1);
    waiting = cursor && last ? items.filter(({ scope, seq }) => scope === last.scope && seq === last.seq) : [];
    yield* linksOf(items.slice(0, items.length - waiting.length));
  } while (cursor);
}

function steps(connection: TableConnection): Pick<ChainStore, "putStep" | "steps"> {
  const entity = stepEntity(connection);
  const linkOf = ({ execution, scope, seq }: LinkId) => ({ partition: chainPartition(execution, scope), scope, seq });
  return {
    putStep: (at, step) =>
      reachingIf(store, () => entity.create({ ...linkOf(at), format: FORMAT, ...step }).go(plainly)),
    async steps(at) {
      const query = entity.query.chain(linkOf(at));
      const { data } = await reaching(store, () => query.go({ ...strongly, pages: "all" }));
      return data.map(({ format, step, text, hash }) => {
        checkFormat(`step ${step} of link ${at.seq} of ${at.execution}`, format);
        return { step, text, hash };
      });
    },
  };
}
