import type { ExecutionQuery, WorkflowStore } from "@nova/engine";
import { reaching } from "../../clients/outage.ts";
import { plainly } from "../options.ts";
import type { ExecutionEntity, ExecutionItem } from "./execution-entity.ts";

const defaultLimit = 50;
/** Behind every id, in front of every other key of the same instant. */
const afterEveryId = "~";
/** Keys are never empty, and nothing sorts before a space. */
const beforeEveryId = " ";

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
 * Newest first, unless asked otherwise of one workflow or client. No index holds all executions (its one partition would
 * take every start of the account), so a query that names neither workflow nor client merges the newest of every workflow.
 */
export async function listExecutions(
  entity: ExecutionEntity,
  workflows: Pick<WorkflowStore, "ids">,
  query: ExecutionQuery,
): Promise<Page> {
  const limit = query.limit ?? defaultLimit;
  if (query.workflow !== undefined || query.client !== undefined)
    return page(await nextOnes(entity, query, limit), limit);
  const ids = await Array.fromAsync(workflows.ids());
  const lists = await Promise.all(
    ids.map((workflow) => nextOnes(entity, { ...query, workflow, oldestFirst: false }, limit)),
  );
  return page(lists.flat().sort(newestFirst), limit);
}

async function nextOnes(entity: ExecutionEntity, query: ExecutionQuery, limit: number): Promise<ExecutionItem[]> {
  const { workflow, client, status, oldestFirst = false } = query;
  const { first, last } = rangeOf(query);
  // DynamoDB refuses a range that ends before it begins.
  if (last.startedAt < first.startedAt) return [];
  const index =
    workflow !== undefined
      ? entity.query.ofWorkflow({ workflowId: workflow })
      : entity.query.ofClient({ client: client as string });
  const range = index.between(first, last).where((attribute, { eq }) => {
    const conditions = [];
    if (status !== undefined) conditions.push(eq(attribute.status, status));
    if (workflow !== undefined && client !== undefined) conditions.push(eq(attribute.client, client));
    return conditions.join(" AND ");
  });
  // One more than asked for tells whether there is a next page; another one is the item the cursor points at.
  const { data } = await reaching("DynamoDB", () =>
    range.go({ ...plainly, order: oldestFirst ? "asc" : "desc", count: limit + 2 }),
  );
  if (query.cursor === undefined) return data;
  const { id } = decode(query.cursor);
  return data.filter((item) => item.id !== id);
}

/** What is left of the time asked for: a page ends where the next one begins, in whichever direction. */
function rangeOf({ from = "0", to = "9", cursor, oldestFirst }: ExecutionQuery): { first: Position; last: Position } {
  const at = cursor === undefined ? undefined : decode(cursor);
  return {
    first: (oldestFirst && at) || { startedAt: from, id: beforeEveryId },
    last: (!oldestFirst && at) || { startedAt: to, id: afterEveryId },
  };
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
