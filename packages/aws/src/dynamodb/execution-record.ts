import * as engine from "@nova/engine";
import { z } from "zod";
import * as db from "./records.ts";

const statuses = ["queued", "running", "waiting", "completed", "failed", "cancelled", "interrupted"] as const;

/** Keys of a record in the indexes. All three indexes sort by start time, then by id. */
const indexKeyPatterns = {
  workflowKey: "W#{workflowId}",
  clientKey: "C#{client}",
  ordered: "{startedAt}#{id}",
} as const;

export const executionRecord = db.record(
  "execution",
  {
    ...db.texts("id", "workflowId", "stateMachineArn", "client", "root", "startedAt"),
    /** `open` is the key of a sparse index of open executions, and of closed executions that offer idle sandboxes. */
    ...db.optionalTexts("endedAt", "tip", "admission", "rank", "trigger", "restartedFrom", "open", "leaver", "taker"),
    ...db.numbers("version"),
    ...db.optionalNumbers("durationMs", "nodes"),
    parent: db.value<engine.Parent>(),
    status: { type: statuses, required: true },
    error: db.value<engine.ExecutionError>(),
    spent: db.value<engine.Spending>(),
    pools: db.value<string[]>(),
    restarts: db.value<string[]>(),
    sessionRuns: db.value<string[]>(),
    labels: db.value<Record<string, string>>(),
    endPublished: { type: "boolean" },
    erased: db.value<"asked" | "emptied" | true>(),
    idle: db.value<engine.Sandbox[]>(),
  },
  {
    record: db.tableKeys("E#{id}", "E"),
    ofWorkflow: db.indexKeys("by-workflow", indexKeyPatterns.workflowKey, indexKeyPatterns.ordered),
    ofClient: db.indexKeys("by-client", indexKeyPatterns.clientKey, indexKeyPatterns.ordered),
    open: db.indexKeys("open", "{open}", indexKeyPatterns.ordered),
  },
);

export type ExecutionEntity = ReturnType<typeof executionRecord>;
export type ExecutionItem = db.Stored<typeof executionRecord>;

const text = z.string();
const count = z.number().nonnegative();

/** Fields of a record. Parsing is strict, because anyone who can write to the table can store anything there. */
const Item = z.object({
  id: text,
  workflowId: text,
  version: z.int(),
  stateMachineArn: text,
  client: text,
  root: text,
  startedAt: text,
  status: z.enum(statuses),
  parent: z.object({ execution: text, scope: text, seq: z.int(), depth: z.int() }).exactOptional(),
  trigger: text.exactOptional(),
  restartedFrom: text.exactOptional(),
  restarts: z.array(text).exactOptional(),
  sessionRuns: z.array(text).exactOptional(),
  labels: z.record(text, text).exactOptional(),
  endedAt: text.exactOptional(),
  durationMs: count.exactOptional(),
  nodes: count.exactOptional(),
  error: z
    .object({ node: text, class: text as unknown as z.ZodType<engine.ExecutionError["class"]>, message: text })
    .exactOptional(),
  spent: z
    .object({ cost_usd: z.number(), tokens_input: z.number(), tokens_cached: z.number(), tokens_output: z.number() })
    .exactOptional(),
  tip: text.exactOptional(),
  endPublished: z.boolean().exactOptional(),
  pools: z.array(text).exactOptional(),
  rank: text.exactOptional(),
  admission: text.exactOptional(),
  erased: z.union([z.literal(["asked", "emptied"]), z.literal(true)]).exactOptional(),
  open: text.exactOptional(),
});

/**
 * Parses an item that was read with its keys (`withKeys`). Throws `UnreadableRecord` if the item is forged or damaged.
 */
export function executionOf(item: ExecutionItem): engine.Execution {
  const client = typeof item.client === "string" ? item.client : null;
  const keys = item as unknown as Partial<Record<string, unknown>>;
  const id = idInKey(item) ?? String(item.id);
  const what = `execution "${id}"`;
  try {
    db.checkFormat(what, item.format);
  } catch (cause) {
    throw new engine.UnreadableRecord((cause as Error).message, client, { cause });
  }
  const parsed = Item.safeParse(item);
  const [issue] = parsed.error?.issues ?? [];
  const wayOut = "the table was edited by hand, nova verify says more";
  const refuse = (reason: string) => new engine.UnreadableRecord(`the record of ${what}${reason} - ${wayOut}`, client);
  if (!parsed.success) throw refuse(`: ${issue?.path.join(".")}: ${issue?.message}`);
  const { open, ...known } = parsed.data;
  if (id !== known.id) throw refuse(" says that it is another run's");
  const misplaced = Object.entries(indexKeyPatterns).find(
    ([key, pattern]) => keys[key] !== fillPattern(pattern, known),
  );
  if (misplaced) throw refuse(` has another ${misplaced[0]}`);
  return { format: 1, ...known, open: open === "open" };
}

/**
 * Returns the id in the item's key; undefined if the key is not the key of a record. No answer of the API may show such
 * an item.
 */
export function idInKey(item: ExecutionItem): string | undefined {
  const { pk, sk } = item as unknown as { pk: string; sk: string };
  return sk === "E" && pk.startsWith("E#") ? pk.slice("E#".length) : undefined;
}

function fillPattern(pattern: string, values: Record<string, unknown>): string {
  return pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
