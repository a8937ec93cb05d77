import type { Execution, ExecutionStore, WorkflowStore } from "@nova/engine";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly, store } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { type ExecutionEntity, type ExecutionItem, executionEntity } from "./execution-entity.ts";
import { listExecutions } from "./list-executions.ts";

/** A plan of E2B has no more sandboxes at once than this. */
const maxOffers = 100;

/** An update named an execution that was never created. */
export class UnknownExecution extends Error {
  override name = "UnknownExecution";
}

/** Records of executions; `workflows` answers which workflows there are when a list names none. */
export function createExecutionStore(
  connection: TableConnection,
  workflows: Pick<WorkflowStore, "ids">,
): ExecutionStore {
  const entity = whenAsked(() => executionEntity(connection));
  return {
    create: ({ open, ...execution }) =>
      reachingIf(store, () => entity.create({ ...execution, ...(open && { open: "open" as const }) }).go(plainly)),
    async get(id) {
      const { data } = await reaching(store, () => entity.get({ id }).go(consistently));
      return data ? executionOf(data) : undefined;
    },
    update: (id, changes) => update(entity, id, changes),
    leave: (id, idle) =>
      reachingIf(store, () => {
        const patch = entity.patch({ id });
        const left = idle.length > 0 ? patch.set({ open: "idle", idle }) : patch.remove(["open"]);
        return left.where((record, { eq }) => eq(record.open, "open")).go(plainly);
      }),
    async idle() {
      const query = entity.query.open({ open: "idle" });
      const { data } = await reaching(store, () => query.go({ ...plainly, order: "desc", count: maxOffers }));
      return data.map(({ id, client, idle }) => ({ id, client, ...(idle && { idle }) }));
    },
    takeIdle: (id) =>
      reachingIf(store, () =>
        entity
          .patch({ id })
          .remove(["open", "idle"])
          .where((record, { eq }) => eq(record.open, "idle"))
          .go(plainly),
      ),
    setStatus: (id, status, from) =>
      reachingIf(store, () =>
        entity
          .patch({ id })
          .set({ status })
          .where(
            (record, { eq }) =>
              `${eq(record.open, "open")} AND (${from.map((one) => eq(record.status, one)).join(" OR ")})`,
          )
          .go(plainly),
      ),
    admit: (id, { from, to, begun }) =>
      reachingIf(store, () =>
        entity
          .patch({ id })
          .set({ admission: to, ...(begun && { status: "running" as const }) })
          .where(
            (record, { eq }) =>
              `${eq(record.open, "open")} AND ${eq(record.status, "queued")} AND (${eq(record.admission, from)} OR ${eq(record.admission, to)})`,
          )
          .go(plainly),
      ),
    async list(query) {
      const { items, cursor } = await listExecutions(entity, workflows, query);
      return { items: items.map(executionOf), ...(cursor !== undefined && { cursor }) };
    },
    open: () => openExecutions(entity),
  };
}

async function update(
  entity: ExecutionEntity,
  id: string,
  changes: Parameters<ExecutionStore["update"]>[1],
): Promise<void> {
  const { id: _, format: __, workflowId, client, startedAt, ...mutable } = changes;
  const written = await reachingIf(store, () => entity.patch({ id }).set(mutable).go(plainly));
  if (!written) throw new UnknownExecution(`there is no execution "${id}" to update - create it first`);
}

async function* openExecutions(entity: ExecutionEntity): AsyncGenerator<Execution> {
  const query = entity.query.open({ open: "open" });
  let cursor: string | null = null;
  do {
    const page = await reaching(store, () => query.go({ ...plainly, cursor }));
    for (const item of page.data) yield executionOf(item);
    cursor = page.cursor;
  } while (cursor);
}

function executionOf({ open, format, ...item }: ExecutionItem): Execution {
  checkFormat(`execution "${item.id}"`, format);
  return { ...item, format: FORMAT, open: open === "open" };
}
