import {
  type Execution,
  type ExecutionError,
  type Parent,
  type Sandbox,
  type Spending,
  UnreadableRecord,
} from "@nova/engine";
import { z } from "zod";
import { checkFormat, numbers, optionalNumbers, optionalTexts, texts, value } from "./fields.ts";
import { indexed, place, record, type Stored } from "./records.ts";

const statuses = ["queued", "running", "waiting", "completed", "failed", "cancelled", "interrupted"] as const;

/** The keys of a record in its indexes. All three order by time; the id makes the order total. */
const places = { workflowKey: "W#{workflowId}", clientKey: "C#{client}", ordered: "{startedAt}#{id}" } as const;

export const executionRecord = record(
  "execution",
  {
    ...texts("id", "workflowId", "stateMachineArn", "client", "root", "startedAt"),
    /** `open` is the key of a sparse index: open executions, and those that have left sandboxes for others. */
    ...optionalTexts("endedAt", "tip", "admission", "rank", "trigger", "restartedFrom", "open", "leaver", "taker"),
    ...numbers("version"),
    ...optionalNumbers("durationMs", "nodes"),
    parent: value<Parent>(),
    status: { type: statuses, required: true },
    error: value<ExecutionError>(),
    spent: value<Spending>(),
    pools: value<string[]>(),
    restarts: value<string[]>(),
    labels: value<Record<string, string>>(),
    endPublished: { type: "boolean" },
    erased: value<"asked" | "emptied" | true>(),
    idle: value<Sandbox | Sandbox[]>(),
  },
  {
    record: place("E#{id}", "E"),
    ofWorkflow: indexed("by-workflow", places.workflowKey, places.ordered),
    ofClient: indexed("by-client", places.clientKey, places.ordered),
    open: indexed("open", "{open}", places.ordered),
  },
);

export type ExecutionEntity = ReturnType<typeof executionRecord>;
export type ExecutionItem = Stored<typeof executionRecord>;

const text = z.string();
const count = z.number().nonnegative();

/** The shape of a record. The parser is strict: a forger who can write the table can put anything there. */
const Item = z.object({
  ...{ id: text, workflowId: text, version: z.int(), stateMachineArn: text, client: text, root: text, startedAt: text },
  status: z.enum(statuses),
  parent: z.object({ execution: text, scope: text, seq: z.int(), depth: z.int() }).exactOptional(),
  ...{ trigger: text.exactOptional(), restartedFrom: text.exactOptional(), restarts: z.array(text).exactOptional() },
  labels: z.record(text, text).exactOptional(),
  ...{ endedAt: text.exactOptional(), durationMs: count.exactOptional(), nodes: count.exactOptional() },
  error: z
    .object({ node: text, class: text as unknown as z.ZodType<ExecutionError["class"]>, message: text })
    .exactOptional(),
  spent: z
    .object({ cost_usd: z.number(), tokens_input: z.number(), tokens_cached: z.number(), tokens_output: z.number() })
    .exactOptional(),
  ...{ tip: text.exactOptional(), endPublished: z.boolean().exactOptional(), pools: z.array(text).exactOptional() },
  ...{ rank: text.exactOptional(), admission: text.exactOptional() },
  erased: z.union([z.literal(["asked", "emptied"]), z.literal(true)]).exactOptional(),
  open: text.exactOptional(),
});

/** An item together with its keys, as ElectroDB answers it with `includeKeys`. Throws `UnreadableRecord`. */
export function executionOf(item: ExecutionItem): Execution {
  const client = typeof item.client === "string" ? item.client : null;
  const keys = item as unknown as Partial<Record<string, unknown>>;
  const id = idInKey(item) ?? String(item.id);
  const what = `execution "${id}"`;
  try {
    checkFormat(what, item.format);
  } catch (cause) {
    throw new UnreadableRecord((cause as Error).message, client, { cause });
  }
  const parsed = Item.safeParse(item);
  const [issue] = parsed.error?.issues ?? [];
  const wayOut = "the table was edited by hand, nova verify says more";
  if (!parsed.success)
    throw new UnreadableRecord(
      `the record of ${what}: ${issue?.path.join(".")}: ${issue?.message} - ${wayOut}`,
      client,
    );
  const { open, ...known } = parsed.data;
  if (id !== known.id)
    throw new UnreadableRecord(`the record of ${what} says that it is another run's - ${wayOut}`, client);
  const misplaced = Object.entries(places).find(([key, pattern]) => keys[key] !== filled(pattern, known));
  if (misplaced) throw new UnreadableRecord(`the record of ${what} has another ${misplaced[0]} - ${wayOut}`, client);
  return { format: 1, ...known, open: open === "open" };
}

/** The run whose record has this key; undefined for an item at any other place: no answer may show it. */
export function idInKey(item: ExecutionItem): string | undefined {
  const { pk, sk } = item as unknown as { pk: string; sk: string };
  return sk === "E" && pk.startsWith("E#") ? pk.slice("E#".length) : undefined;
}

function filled(pattern: string, values: Record<string, unknown>): string {
  return pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
