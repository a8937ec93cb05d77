import type { Execution, ExecutionStore, WorkflowStore } from "@nova/engine";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly, store } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { type ExecutionEntity, type ExecutionItem, executionEntity } from "./execution-entity.ts";
import { listExecutions } from "./list-executions.ts";

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
    setStatus: (id, status, from) =>
      reachingIf(store, () =>
        entity
          .patch({ id })
          .set({ status })
          .where(
            (record, { eq, exists }) =>
              `${exists(record.open)} AND (${from.map((one) => eq(record.status, one)).join(" OR ")})`,
          )
          .go(plainly),
      ),
    admit: (id, { from, to, begun }) =>
      reachingIf(store, () =>
        entity
          .patch({ id })
          .set({ admission: to, ...(begun && { status: "running" as const }) })
          .where(
            (record, { eq, exists }) =>
              `${exists(record.open)} AND ${eq(record.status, "queued")} AND (${eq(record.admission, from)} OR ${eq(record.admission, to)})`,
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

async function update(entity: ExecutionEntity, id: string, changes: Partial<Execution>): Promise<void> {
  const { id: _, format: __, workflowId, client, startedAt, open, ...mutable } = changes;
  const patch = entity.patch({ id }).set({ ...mutable, ...(open === true && { open: "open" as const }) });
  const written = await reachingIf(store, () => (open === false ? patch.remove(["open"]) : patch).go(plainly));
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
  return { ...item, format: FORMAT, open: open !== undefined };
}
