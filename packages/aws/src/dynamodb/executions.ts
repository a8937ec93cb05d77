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
import { isDraftId } from "@nova/service";
import { type ExecutionEntity, type ExecutionItem, executionOf, executionRecord, idInKey } from "./execution-record.ts";
import * as db from "./records.ts";

const defaultLimit = 50;
/**
 * Maximum number of runs whose offered sandboxes one query reads. The usual E2B plan allows the same number of
 * concurrent sandboxes.
 */
const maxOffers = 100;

/** Thrown if an update names an execution that was never created. */
export class UnknownExecution extends Error {
  override name = "UnknownExecution";
}

/**
 * Creates the store of execution records. `workflows` supplies the workflow ids for a query that names no workflow and
 * no client.
 */
export function createExecutionStore(
  connection: db.TableConnection,
  workflows: Pick<WorkflowStore, "ids">,
): ExecutionStore {
  const entity = executionRecord(connection);
  return {
    async create(whole) {
      const { open, ...execution } = whole;
      if (execution.restartedFrom !== undefined && !(await noteRestart(entity, execution, "new")))
        throw new UnknownExecution(`execution ${execution.restartedFrom} was erased meanwhile - start a new one`);
      await noteLabels(connection, whole);
      return db.writeIf(entity.create({ ...execution, ...(open && { open: "open" as const }) }));
    },
    get: (id) => db.findItem(db.withKeys(entity.get({ id })), executionOf),
    async update(id, { id: _, format: __, workflowId, client, startedAt, ...mutable }) {
      const written = await db.writeIf(entity.patch({ id }).set(mutable));
      if (!written) throw new UnknownExecution(`there is no execution "${id}" to update - create it first`);
    },
    setStatus(id, status, from) {
      const patch = entity.patch({ id }).set({ status });
      return db.writeIf(patch.where(db.hasValues({ open: "open", status: from })));
    },
    admit(id, { from, to, begun }) {
      const patch = entity.patch({ id }).set({ admission: to, ...(begun && { status: "running" as const }) });
      return db.writeIf(patch.where(db.hasValues({ open: "open", status: "queued", admission: [from, to] })));
    },
    async leave({ id, client }, idle) {
      // A random id of this change. If the SDK repeats the write, this id in the record shows that the first write
      // succeeded.
      const leaver: string = randomUUID();
      const patch = entity.patch({ id }).set({ leaver });
      const left =
        idle.length > 0 ? patch.set({ open: offerPartition(client), idle: [...idle] }) : patch.remove(["open"]);
      const isWritten = await db.writeIf(
        left.where(
          (record, { eq, notExists }) =>
            `${eq(record.open, "open")} OR (${eq(record.leaver, leaver)} AND ${notExists(record.taker)})`,
        ),
      );
      return isWritten || (await db.readItem(entity.get({ id })))?.leaver === leaver;
    },
    async idle(client) {
      const partitions = client === undefined ? offerPartitions : [offerPartition(client)];
      const options = { order: client === undefined ? "asc" : "desc", limit: maxOffers } as const;
      const found = await Promise.all(partitions.map((open) => db.readSome(entity.query.open({ open }), options)));
      return found.flat().flatMap(({ id, client: owner, workflowId, version, idle }) => {
        const offered = owner === (client ?? owner) && idle ? idle : [];
        return offered.map((sandbox) => ({ id, client: owner, workflowId, version, idle: sandbox, offered }));
      });
    },
    keepIdle: (offer, instead) => replaceIdle(entity, offer, [instead]),
    takeIdle: (offer) => replaceIdle(entity, offer, []),
    async list(query) {
      if (query.label) return listLabelled(connection, entity, query, query.label);
      const { items, cursor } = await listExecutions(entity, workflows, query);
      return { ...parseReadable(items), ...(cursor !== undefined && { cursor }) };
    },
    async *open() {
      for await (const item of db.readEach(db.withKeys(entity.query.open({ open: "open" }))))
        yield* parseReadable([item]).items;
    },
  };
}

/**
 * Replaces an offered sandbox in its record by `replacement`. Returns false if the sandbox is no longer offered. Tries
 * again if another process takes a different sandbox from the same record at the same time.
 */
async function replaceIdle(entity: ExecutionEntity, { id, idle, offered }: Offer, replacement: Sandbox[]) {
  const taker: string = randomUUID();
  for (let known = offered; known.some((sandbox) => sandbox.id === idle.id); ) {
    const left = [...known.filter((sandbox) => sandbox.id !== idle.id), ...replacement];
    const patch = entity.patch({ id }).set({ taker });
    const changed = left.length > 0 ? patch.set({ idle: left }) : patch.remove(["open", "idle"]);
    const asKnown = db.isUnchanged({ idle: known });
    if (await db.writeIf(changed.where((record, of) => `${asKnown(record, of)} OR ${of.eq(record.taker, taker)}`)))
      return true;
    known = (await db.readItem(entity.get({ id })))?.idle ?? [];
  }
  return false;
}

/** Adds an imported restart to the record of its source, if this table also contains the source. */
export async function noteImported(connection: db.TableConnection, restart: Restart): Promise<void> {
  await noteRestart(executionRecord(connection), restart, "imported");
}

type Restart = Pick<Execution, "id" | "client" | "restartedFrom" | "workflowId">;

/**
 * Adds a restart to the record of its source, before the restart's own record exists. Returns false if the source is
 * missing, or if it was erased and the restart is new.
 */
async function noteRestart(
  entity: ExecutionEntity,
  { id, client, workflowId, restartedFrom = "" }: Restart,
  as: "new" | "imported",
): Promise<boolean> {
  for (;;) {
    const source = await db.readItem(entity.get({ id: restartedFrom }));
    const { restarts, sessionRuns = [], erased } = source ?? {};
    if (restarts?.includes(id)) return true;
    if (source?.client !== client || (as === "new" && erased)) return false;
    // Only the first run of a session can restart a run outside the session.
    const isFirst = isDraftId(workflowId) && !isDraftId(source.workflowId);
    const ofSession = isFirst && { sessionRuns: [...sessionRuns, id] };
    const noted = entity.patch({ id: restartedFrom }).set({ restarts: [...(restarts ?? []), id], ...ofSession });
    if (await db.writeIf(noted.where(db.isUnchanged({ restarts, erased })))) return true;
  }
}

/**
 * Parses items, and returns the ids of unreadable records in a separate list. Leaves out items that are not under the
 * key of a record.
 */
function parseReadable(items: readonly ExecutionItem[]): { items: Execution[]; unreadable: string[] } {
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

/** Lists runs with a label. A page may hold fewer than `limit` runs although more follow. */
async function listLabelled(
  connection: db.TableConnection,
  entity: ExecutionEntity,
  query: ExecutionQuery,
  { name, value }: Label,
): Promise<ExecutionList> {
  const { workflow, client, limit = defaultLimit, oldestFirst = false } = query;
  const { first, last } = rangeOf(query);
  if (last.startedAt < first.startedAt) return { items: [] };
  const noted = labelRecord(connection).query.record({ name, value }).between(first, last);
  const before = query.cursor === undefined ? undefined : decode(query.cursor).id;
  const found = await db.readSome(noted.where(db.hasValues({ client, workflowId: workflow })), {
    consistent: true,
    order: oldestFirst ? "asc" : "desc",
    count: limit + 2,
  });
  const fitting = found.filter(({ id }) => id !== before);
  const onPage = fitting.slice(0, limit);
  const records = await Promise.all(onPage.map(({ id }) => db.readItem(db.withKeys(entity.get({ id })))));
  const { items, unreadable } = parseReadable(records.filter((item) => item !== null));
  const end = fitting.length > limit ? onPage.at(-1) : undefined;
  return { items: items.filter(matchesQuery(query)), unreadable, ...(end && { cursor: encode(end) }) };
}

/**
 * Returns a function that checks whether a record matches a query. A record needs this check because its entry in an
 * index may be out of date.
 */
function matchesQuery({ workflow, client, statuses, errorClass, trigger, label }: ExecutionQuery) {
  return (run: Execution): boolean =>
    (workflow === undefined || run.workflowId === workflow) &&
    (client === undefined || run.client === client) &&
    (statuses?.includes(run.status) ?? true) &&
    (errorClass === undefined || run.error?.class === errorClass) &&
    (trigger === undefined || run.trigger === trigger) &&
    (label === undefined || run.labels?.[label.name] === label.value);
}

interface FoundPage {
  items: ExecutionItem[];
  end?: Position;
}

/** The time and id of a page's last item: a position that is valid in every index. */
type Position = Pick<Execution, "startedAt" | "id">;

/**
 * Lists executions, newest first; a query of one workflow or client may ask for the oldest first. No index holds all
 * executions, because every start of the account would write to its one partition. A query without workflow and client
 * therefore merges the newest runs of every workflow. Open executions have their own index.
 */
async function listExecutions(entity: ExecutionEntity, workflows: Pick<WorkflowStore, "ids">, query: ExecutionQuery) {
  const { workflow, client, statuses, limit = defaultLimit } = query;
  if (workflow !== undefined || client !== undefined || areOpen(statuses))
    return cutPage(await findPage(entity, query, limit), limit);
  const ids = await Array.fromAsync(workflows.ids());
  const lists = await Promise.all(
    ids.map((workflow) => findPage(entity, { ...query, workflow, oldestFirst: false }, limit)),
  );
  return cutPage(mergePages(lists), limit);
}

function areOpen(statuses: ExecutionQuery["statuses"]): boolean {
  return statuses?.every((status) => status === "queued" || status === "running" || status === "waiting") === true;
}

/**
 * Merges one page of each list. The result ends where the first of these pages ends: the next page of that list may
 * contain runs that sort before the rest of the other pages.
 */
function mergePages(lists: readonly FoundPage[]): FoundPage {
  const [end] = lists.flatMap(({ end }) => end ?? []).sort(newestFirst);
  const items = lists.flatMap(({ items }) => items).sort(newestFirst);
  return end ? { items: items.filter((item) => newestFirst(item, end) <= 0), end } : { items };
}

async function findPage(entity: ExecutionEntity, query: ExecutionQuery, limit: number): Promise<FoundPage> {
  const { workflow, client, statuses, errorClass, trigger, looksAt, oldestFirst = false } = query;
  const { first, last } = rangeOf(query);
  // DynamoDB refuses a range that ends before it starts.
  if (last.startedAt < first.startedAt) return { items: [] };
  const { open, ofWorkflow, ofClient } = entity.query;
  const ofOne = () =>
    workflow !== undefined ? ofWorkflow({ workflowId: workflow }) : ofClient({ client: client as string });
  const index = areOpen(statuses) ? open({ open: "open" }) : ofOne();
  // The filter leaves out the key of the index. Otherwise it would hide a record whose attribute differs from its key,
  // and `executionOf` must report such a record.
  const byKey = areOpen(statuses) ? {} : workflow !== undefined ? { workflowId: undefined } : { client: undefined };
  const fitting = index
    .between(first, last)
    .where(db.hasValues({ status: statuses, client, workflowId: workflow, trigger, ...byKey }))
    .where(({ error }, { eq }) => (errorClass === undefined ? "" : eq((error as ExecutionError).class, errorClass)));
  const order = oldestFirst ? "asc" : "desc";
  // One extra item shows whether there is a next page. The other extra item is the item at the cursor, which the code
  // below drops.
  const count = limit + 2;
  const isBounded = !areOpen(statuses) && [statuses, errorClass, trigger].some((wanted) => wanted !== undefined);
  const { data, cursor } = await db.readPage(db.withKeys(fitting), {
    order,
    ...(looksAt && isBounded ? { limit: looksAt } : { count }),
  });
  const before = query.cursor === undefined ? undefined : decode(query.cursor).id;
  const items = data.filter(({ id }) => id !== before);
  return cursor !== null && items.length <= limit ? { items, end: positionInCursor(cursor) } : { items };
}

/**
 * Returns the position of the last item that a page examined. The page's ElectroDB cursor contains the keys of this
 * item.
 */
function positionInCursor(cursor: string): Position {
  const { ordered = "" } = JSON.parse(Buffer.from(cursor, "base64url").toString()) as { ordered?: string };
  return positionOf(ordered);
}

/** Returns the requested time range from the cursor on. The range includes the item at the cursor. */
function rangeOf({ from = "0", to = "9", cursor, oldestFirst }: ExecutionQuery): { first: Position; last: Position } {
  const at = cursor === undefined ? undefined : decode(cursor);
  return {
    first: (oldestFirst && at) || { startedAt: from, id: db.beforeAll },
    last: (!oldestFirst && at) || { startedAt: to, id: db.afterAll },
  };
}

function cutPage({ items: found, end }: FoundPage, limit: number): { items: ExecutionItem[]; cursor?: string } {
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

/** Partitions of the index `open` that hold offered sandboxes. All offers of one client are in one partition. */
const offerPartitions = Array.from("0123456789abcdef", (digit) => `idle${digit}`);

function offerPartition(client: string): string {
  return `idle${createHash("sha256").update(client).digest("hex")[0]}`;
}

/** Finds runs by a label. Runs with the same label share a partition and are sorted by time. */
export const labelRecord = db.record("label", db.texts("name", "value", "startedAt", "id", "client", "workflowId"), {
  record: db.tableKeys("LABEL#{name}#{value}", "{startedAt}#{id}"),
});

/** Writes the labels of a run, before its record: a list leaves out labels whose run has no record. */
export async function noteLabels(connection: db.TableConnection, execution: Execution): Promise<void> {
  const { id, client, workflowId, startedAt, labels = {} } = execution;
  const notes = labelRecord(connection);
  const common = { format: db.FORMAT, id, client, workflowId, startedAt };
  await Promise.all(
    Object.entries(labels).map(([name, value]) => db.writeIf(notes.create({ ...common, name, value }))),
  );
}
