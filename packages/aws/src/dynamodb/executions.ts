import { createHash, randomUUID } from "node:crypto";
import {
  type Execution,
  type ExecutionError,
  type ExecutionList,
  type ExecutionQuery,
  type ExecutionStore,
  type Label,
  type Offer,
  type Sandbox,
  UnreadableRecord,
  type WorkflowStore,
} from "@nova/engine";
import { type ExecutionEntity, type ExecutionItem, executionOf, executionRecord, idInKey } from "./execution-record.ts";
import { labelRecord, noteLabels } from "./labels.ts";
import {
  each,
  found,
  having,
  read,
  readPage,
  readSome,
  type TableConnection,
  unchanged,
  withKeys,
  writeIf,
} from "./records.ts";

const defaultLimit = 50;
/** A usual plan of E2B has no more sandboxes at once than this. */
const maxOffers = 100;
/** Behind every id, in front of every other key of the same instant. */
const afterEveryId = "~";
/** Keys are never empty, and nothing sorts before a space. */
const beforeEveryId = " ";

/** An update named an execution that was never created. */
export class UnknownExecution extends Error {
  override name = "UnknownExecution";
}

/** Records of executions; `workflows` answers which workflows there are when a list names none. */
export function createExecutionStore(
  connection: TableConnection,
  workflows: Pick<WorkflowStore, "ids">,
): ExecutionStore {
  const entity = executionRecord(connection);
  return {
    async create(whole) {
      const { open, ...execution } = whole;
      if (execution.restartedFrom !== undefined && !(await noteRestart(entity, execution, "new")))
        throw new UnknownExecution(`execution ${execution.restartedFrom} was erased meanwhile - start a new one`);
      await noteLabels(connection, whole);
      return writeIf(entity.create({ ...execution, ...(open && { open: "open" as const }) }));
    },
    get: (id) => found(withKeys(entity.get({ id })), executionOf),
    async update(id, { id: _, format: __, workflowId, client, startedAt, ...mutable }) {
      const written = await writeIf(entity.patch({ id }).set(mutable));
      if (!written) throw new UnknownExecution(`there is no execution "${id}" to update - create it first`);
    },
    setStatus: (id, status, from) =>
      writeIf(
        entity
          .patch({ id })
          .set({ status })
          .where(
            (record, { eq }) =>
              `${eq(record.open, "open")} AND (${from.map((one) => eq(record.status, one)).join(" OR ")})`,
          ),
      ),
    admit: (id, { from, to, begun }) =>
      writeIf(
        entity
          .patch({ id })
          .set({ admission: to, ...(begun && { status: "running" as const }) })
          .where(
            (record, { eq }) =>
              `${eq(record.open, "open")} AND ${eq(record.status, "queued")} AND (${eq(record.admission, from)} OR ${eq(record.admission, to)})`,
          ),
      ),
    async leave({ id, client }, idle) {
      // Sent again, since its answer was lost, a change finds its own name in the record.
      const leaver: string = randomUUID();
      const patch = entity.patch({ id }).set({ leaver });
      const left =
        idle.length > 0 ? patch.set({ open: shelfOf(client), idle: storedIdle(idle) }) : patch.remove(["open"]);
      const isWritten = await writeIf(
        left.where(
          (record, { eq, notExists }) =>
            `${eq(record.open, "open")} OR (${eq(record.leaver, leaver)} AND ${notExists(record.taker)})`,
        ),
      );
      return isWritten || (await read(entity.get({ id })))?.leaver === leaver;
    },
    async idle(client) {
      const found =
        client === undefined
          ? await Promise.all(
              shelves.map((open) => readSome(entity.query.open({ open }), { order: "asc", limit: maxOffers })),
            )
          : [await readSome(entity.query.open({ open: shelfOf(client) }), { order: "desc", limit: maxOffers })];
      return found.flat().flatMap(({ id, client: owner, workflowId, version, idle }) => {
        const offered = owner === (client ?? owner) && idle ? [idle].flat() : [];
        return offered.map((one) => ({ id, client: owner, workflowId, version, idle: one, offered }));
      });
    },
    keepIdle: (offer, instead) => replaceIdle(entity, offer, [instead]),
    takeIdle: (offer) => replaceIdle(entity, offer, []),
    async list(query) {
      if (query.label) return listLabelled(connection, entity, query, query.label);
      const { items, cursor } = await listExecutions(entity, workflows, query);
      return { ...readable(items), ...(cursor !== undefined && { cursor }) };
    },
    async *open() {
      for await (const item of each(withKeys(entity.query.open({ open: "open" })))) yield* readable([item]).items;
    },
  };
}

/** Earlier releases offered one, which was no list. */
function storedIdle(idle: readonly Sandbox[]): Sandbox | Sandbox[] {
  const [first, ...more] = idle;
  return first && more.length === 0 ? first : [...idle];
}

/** False where it is not on offer any more; others may take from the same record meanwhile. */
async function replaceIdle(entity: ExecutionEntity, { id, idle, offered }: Offer, by: Sandbox[]): Promise<boolean> {
  const taker: string = randomUUID();
  for (let known = offered; known.some((one) => one.id === idle.id); ) {
    const left = [...known.filter((one) => one.id !== idle.id), ...by];
    const patch = entity.patch({ id }).set({ taker });
    const changed = left.length > 0 ? patch.set({ idle: storedIdle(left) }) : patch.remove(["open", "idle"]);
    const asKnown = unchanged({ idle: storedIdle(known) });
    if (await writeIf(changed.where((record, of) => `${asKnown(record, of)} OR ${of.eq(record.taker, taker)}`)))
      return true;
    const { idle: now = [] } = (await read(entity.get({ id }))) ?? {};
    known = [now].flat();
  }
  return false;
}

/** Tells the source of a restart that was imported, where both are here. */
export async function noteImported(connection: TableConnection, restart: Restart): Promise<void> {
  await noteRestart(executionRecord(connection), restart, "imported");
}

type Restart = Pick<Execution, "id" | "client" | "restartedFrom">;

/** Tells the source of its restart, before that is there. False where the source is missing, or erased and asked anew. */
async function noteRestart(
  entity: ExecutionEntity,
  { id, client, restartedFrom = "" }: Restart,
  as: "new" | "imported",
): Promise<boolean> {
  for (;;) {
    const source = await read(entity.get({ id: restartedFrom }));
    const { restarts, erased } = source ?? {};
    if (restarts?.includes(id)) return true;
    if (source?.client !== client || (as === "new" && erased)) return false;
    const noted = entity.patch({ id: restartedFrom }).set({ restarts: [...(restarts ?? []), id] });
    if (await writeIf(noted.where(unchanged({ restarts, erased })))) return true;
  }
}

/** Those that can be read, and the ids of those that cannot. An item that lies where no record does is left out. */
function readable(items: readonly ExecutionItem[]): { items: Execution[]; unreadable: string[] } {
  const found: { items: Execution[]; unreadable: string[] } = { items: [], unreadable: [] };
  for (const item of items) {
    const id = idInKey(item);
    if (id === undefined) continue;
    try {
      found.items.push(executionOf(item));
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      found.unreadable.push(id);
    }
  }
  return found;
}

/** Runs with a label, by the index of labels; a page may have fewer than `limit`, and a cursor all the same. */
async function listLabelled(
  connection: TableConnection,
  entity: ExecutionEntity,
  query: ExecutionQuery,
  { name, value }: Label,
): Promise<ExecutionList> {
  const { workflow, client, limit = defaultLimit, oldestFirst = false } = query;
  const { first, last } = rangeOf(query);
  if (last.startedAt < first.startedAt) return { items: [] };
  const noted = labelRecord(connection).query.record({ name, value }).between(first, last);
  const before = query.cursor === undefined ? undefined : decode(query.cursor).id;
  const found = await readSome(noted.where(having({ client, workflowId: workflow })), {
    ...{ consistent: true, order: oldestFirst ? "asc" : "desc", count: limit + 2 },
  });
  const fitting = found.filter(({ id }) => id !== before);
  const part = fitting.slice(0, limit);
  const records = await Promise.all(part.map(({ id }) => read(withKeys(entity.get({ id })))));
  const { items, unreadable } = readable(records.filter((item) => item !== null));
  const end = fitting.length > limit ? part.at(-1) : undefined;
  return { items: items.filter(fits(query)), unreadable, ...(end && { cursor: encode(end) }) };
}

/** Whether a record fits a query, whatever an index says of it. */
function fits({ workflow, client, status, errorClass, trigger, label }: ExecutionQuery) {
  return (run: Execution): boolean =>
    (workflow === undefined || run.workflowId === workflow) &&
    (client === undefined || run.client === client) &&
    (status === undefined || run.status === status) &&
    (errorClass === undefined || run.error?.class === errorClass) &&
    (trigger === undefined || run.trigger === trigger) &&
    (label === undefined || run.labels?.[label.name] === label.value);
}

interface Found {
  items: ExecutionItem[];
  /** How far was looked, where there is more behind it. */
  end?: Position;
}

/** Where a page ended: the time and id of its last item, so it fits any of the indexes. */
type Position = Pick<Execution, "startedAt" | "id">;

/**
 * Newest first, unless asked otherwise of one workflow or client. No index holds all executions (its one partition would
 * take every start of the account), so a query that names neither workflow nor client merges the newest of every workflow.
 * Those that have not ended have an index of their own, and are few: all of them are looked at.
 */
async function listExecutions(entity: ExecutionEntity, workflows: Pick<WorkflowStore, "ids">, query: ExecutionQuery) {
  const { workflow, client, status, limit = defaultLimit } = query;
  if (workflow !== undefined || client !== undefined || isOpen(status))
    return page(await nextOnes(entity, query, limit), limit);
  const ids = await Array.fromAsync(workflows.ids());
  const lists = await Promise.all(
    ids.map((workflow) => nextOnes(entity, { ...query, workflow, oldestFirst: false }, limit)),
  );
  return page(merged(lists), limit);
}

function isOpen(status: Execution["status"] | undefined): boolean {
  return status === "queued" || status === "running" || status === "waiting";
}

/** Only as far as all of them were looked through. */
function merged(lists: readonly Found[]): Found {
  const [end] = lists.flatMap(({ end }) => end ?? []).sort(newestFirst);
  const items = lists.flatMap(({ items }) => items).sort(newestFirst);
  return end ? { items: items.filter((item) => newestFirst(item, end) <= 0), end } : { items };
}

async function nextOnes(entity: ExecutionEntity, query: ExecutionQuery, limit: number): Promise<Found> {
  const { workflow, client, status, errorClass, trigger, looksAt, oldestFirst = false } = query;
  const { first, last } = rangeOf(query);
  // DynamoDB refuses a range that ends before it begins.
  if (last.startedAt < first.startedAt) return { items: [] };
  const { open, ofWorkflow, ofClient } = entity.query;
  const ofOne = () =>
    workflow !== undefined ? ofWorkflow({ workflowId: workflow }) : ofClient({ client: client as string });
  const index = isOpen(status) ? open({ open: "open" }) : ofOne();
  // The key of an index is compared with the record when that is read: a filter would hide a record that was changed.
  const byKey = isOpen(status) ? {} : workflow !== undefined ? { workflowId: undefined } : { client: undefined };
  const fitting = index
    .between(first, last)
    .where(having({ status, client, workflowId: workflow, trigger, ...byKey }))
    .where(({ error }, { eq }) => (errorClass === undefined ? "" : eq((error as ExecutionError).class, errorClass)));
  const order = oldestFirst ? "asc" : "desc";
  // One more than asked for tells whether there is a next page; another one is the item the cursor points at.
  const count = limit + 2;
  const isBounded = !isOpen(status) && [status, errorClass, trigger].some((wanted) => wanted !== undefined);
  const { data, cursor } = await readPage(withKeys(fitting), {
    order,
    ...(looksAt && isBounded ? { limit: looksAt } : { count }),
  });
  const before = query.cursor === undefined ? undefined : decode(query.cursor).id;
  const items = data.filter(({ id }) => id !== before);
  return cursor !== null && items.length <= limit ? { items, end: positionIn(cursor) } : { items };
}

/** Where DynamoDB stopped, as ElectroDB tells it: by the keys of the item. */
function positionIn(cursor: string): Position {
  const { ordered = "" } = JSON.parse(Buffer.from(cursor, "base64url").toString()) as { ordered?: string };
  return positionOf(ordered);
}

/** What is left of the time asked for: a page ends where the next one begins, in whichever direction. */
function rangeOf({ from = "0", to = "9", cursor, oldestFirst }: ExecutionQuery): { first: Position; last: Position } {
  const at = cursor === undefined ? undefined : decode(cursor);
  return {
    first: (oldestFirst && at) || { startedAt: from, id: beforeEveryId },
    last: (!oldestFirst && at) || { startedAt: to, id: afterEveryId },
  };
}

function page({ items: found, end }: Found, limit: number): { items: ExecutionItem[]; cursor?: string } {
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : end;
  return last ? { items, cursor: encode(last) } : { items };
}

function newestFirst(a: Position, b: Position): number {
  const [left, right] = [`${a.startedAt}#${a.id}`, `${b.startedAt}#${b.id}`];
  return left < right ? 1 : left > right ? -1 : 0;
}

function encode({ startedAt, id }: Position): string {
  return Buffer.from(`${startedAt}#${id}`).toString("base64url");
}

function decode(cursor: string): Position {
  return positionOf(Buffer.from(cursor, "base64url").toString());
}

function positionOf(ordered: string): Position {
  const [startedAt = "", id = ""] = ordered.split("#");
  return { startedAt, id };
}

/** Where offers of sandboxes lie in the open index: a few partitions, for each client always the same one. */
const shelves = Array.from("0123456789abcdef", (digit) => `idle${digit}`);

function shelfOf(client: string): string {
  return `idle${createHash("sha256").update(client).digest("hex")[0]}`;
}
