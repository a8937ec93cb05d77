import type { ExecutionQuery, WorkflowStore } from "@nova/engine";
import { reaching } from "../../clients/outage.ts";
import { plainly } from "../options.ts";
import type { ExecutionEntity, ExecutionItem } from "./execution-entity.ts";

const defaultLimit = 50;
/** Behind every id, in front of every other key of the same instant. */
const afterEveryId = "~";

interface Page {
  items: ExecutionItem[];
  cursor?: string;
}

/** Where a page ended: the time and id of its last item, so it fits any of the indexes. */
interface Position {
  startedAt: string;
  id: string;
}

/**
 * Newest first. No index holds all executions (its one partition would take every start of the account), so a query
 * that names neither workflow nor client merges the newest of every workflow.
 */
export async function listExecutions(
  entity: ExecutionEntity,
  workflows: Pick<WorkflowStore, "ids">,
  query: ExecutionQuery,
): Promise<Page> {
  const limit = query.limit ?? defaultLimit;
  if (query.workflow !== undefined || query.client !== undefined)
    return page(await newest(entity, query, limit), limit);
  const ids = await Array.fromAsync(workflows.ids());
  const lists = await Promise.all(ids.map((workflow) => newest(entity, { ...query, workflow }, limit)));
  return page(lists.flat().sort(newestFirst), limit);
}

async function newest(entity: ExecutionEntity, query: ExecutionQuery, limit: number): Promise<ExecutionItem[]> {
  const { workflow, client, status, from = "0", to = "9" } = query;
  const last: Position = { startedAt: to, id: afterEveryId };
  const cursor = query.cursor === undefined ? last : decode(query.cursor);
  // DynamoDB refuses a range that ends before it begins.
  if (cursor.startedAt < from) return [];
  const index =
    workflow !== undefined
      ? entity.query.ofWorkflow({ workflowId: workflow })
      : entity.query.ofClient({ client: client as string });
  const range = index.between({ startedAt: from }, cursor).where((attribute, { eq }) => {
    const conditions = [];
    if (status !== undefined) conditions.push(eq(attribute.status, status));
    if (workflow !== undefined && client !== undefined) conditions.push(eq(attribute.client, client));
    return conditions.join(" AND ");
  });
  // One more than asked for tells whether there is a next page; another one is the item the cursor points at.
  const { data } = await reaching("DynamoDB", () => range.go({ ...plainly, order: "desc", count: limit + 2 }));
  return query.cursor === undefined ? data : data.filter((item) => item.id !== cursor.id);
}

function page(found: ExecutionItem[], limit: number): Page {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return last && found.length > limit ? { items, cursor: encode(last) } : { items };
}

function newestFirst(a: Position, b: Position): number {
  const [left, right] = [`${a.startedAt}#${a.id}`, `${b.startedAt}#${b.id}`];
  return left < right ? 1 : left > right ? -1 : 0;
}

function encode({ startedAt, id }: Position): string {
  return Buffer.from(`${startedAt}#${id}`).toString("base64url");
}

function decode(cursor: string): Position {
  const [startedAt = "", id = ""] = Buffer.from(cursor, "base64url").toString().split("#");
  return { startedAt, id };
}
