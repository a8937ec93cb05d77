import { createHash } from "node:crypto";
import * as engine from "@nova/engine";
import type { Trigger, TriggerType } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { monotonicFactory } from "ulid";
import { reaches } from "../access/authenticate.ts";
import { demandClient } from "../clients/clients.ts";
import { Conflict, Forbidden, NotFound, Refused } from "../errors.ts";
import { continueRun, execute } from "../executions/execute.ts";
import { listExecutions } from "../executions/executions.ts";
import { defaultClient } from "../ports/clients.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { everyItem, type Page, type PageQuery, type Range, readPage } from "../ports/page.ts";
import type { Delivery, DeliveryQuery } from "../ports/triggers.ts";

export type DeliveryOrigin = Pick<Delivery, "type" | "workflow" | "trigger" | "client" | "dedupe" | "from" | "about">;

export interface Arrival extends DeliveryOrigin {
  workflow: string;
  trigger: string;
  client: string;
  context: string;
  files?: engine.FileInPlace[];
}

/** A trigger of the active version of a workflow, and the client of its runs. */
export interface FoundTrigger<T extends Trigger = Trigger> {
  workflow: string;
  trigger: T;
  client: string;
}

/** Finds the live trigger of this type under a key. */
export async function findTrigger<Type extends TriggerType>(
  { triggers }: Pick<ServicePorts, "triggers">,
  key: string,
  type: Type,
): Promise<FoundTrigger<Extract<Trigger, { type: Type }>> | undefined> {
  const { workflowId: workflow, trigger } = (await triggers.get(key)) ?? {};
  if (workflow === undefined || trigger?.type !== type) return undefined;
  return { workflow, trigger: trigger as never, client: trigger.client ?? defaultClient };
}

export function describeTrigger({ workflow, trigger: { id, type }, client }: FoundTrigger) {
  return { type, workflow, trigger: id, client };
}

/** Makes a file of received bytes. In a context, the `mark` of the file stands in place of the bytes. */
export function fileOf(bytes: Uint8Array): engine.FileInPlace {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { mark: engine.newFileMark(), sha256, bytes: bytes.length, open: () => yieldOnce(bytes) };
}

async function* yieldOnce(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

/** Seconds for which NOVA keeps a delivery. After that time, a repetition counts as a new delivery. */
const keptSeconds = 90 * 24 * 60 * 60;

const nextId = monotonicFactory();

/**
 * Starts a run for an arrival, and records the delivery. An arrival is a message, request, event or time that reached a
 * trigger; it has only one run. The run's id is recorded before the run starts, so a repeated delivery after a crash
 * continues with the same run. An arrival that cannot start a run is `refused` with the reason, unless its run has
 * already started. A refused arrival is tried again when it is delivered again: vendors repeat under the same id, and
 * the cause may be repaired. Temporary errors (an outage, a throttle) are thrown.
 */
export async function startFromTrigger(ports: ServicePorts, arrival: Arrival): Promise<Delivery> {
  const { workflow, trigger, client, context, files } = arrival;
  const reserved = deliveryOf(ports, arrival, "accepted");
  const gone = await missingClientReason(ports, client);
  if (gone !== undefined) return recordWithoutClient(ports, reserved, gone);
  const existing = await ports.deliveries.begin(reserved);
  const by: Principal = { id: `trigger:${workflow}/${trigger}`, role: "runner", client, name: trigger };
  if (existing?.status === "started" && existing.execution !== null) {
    return continueDelivery(ports, by, existing, existing.execution);
  }
  if (existing?.status === "failed") return existing;
  const delivery = existing ?? reserved;
  // The id comes from the delivery, so concurrent retries of a refused delivery start the same run.
  const ulid = delivery.id.slice("dlv_".length);
  try {
    await execute(ports, by, defined({ ulid, workflow, client, context, files, trigger }));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (!(await hasStarted(ports, `exec_${ulid}`, client))) {
      return finishDelivery(ports, delivery, { status: "refused", execution: null, reason: error.message });
    }
  }
  const execution = `exec_${ulid}`;
  const started = await finishDelivery(ports, delivery, { status: "started", execution, reason: null });
  return existing ? continueDelivery(ports, by, started, execution) : started;
}

/**
 * Returns the record of a repeated delivery, with the id of the run that continues its run. If that run cannot
 * continue, only the returned delivery is `refused`, and the stored delivery stays unchanged.
 */
async function continueDelivery(ports: ServicePorts, by: Principal, delivery: Delivery, id: string): Promise<Delivery> {
  const run = await ports.executions.get(id);
  if (!run) return delivery;
  try {
    return { ...delivery, execution: (await continueRun(ports, by, run)).id };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { ...delivery, status: "refused", execution: null, reason: error.message };
  }
}

/**
 * Returns whether an earlier attempt started the run before its process crashed. Runs of a deleted client count as not
 * started.
 */
async function hasStarted(ports: ServicePorts, run: string, client: string): Promise<boolean> {
  return (await ports.executions.get(run)) !== undefined && (await missingClientReason(ports, client)) === undefined;
}

type RecordPorts = Pick<ServicePorts, "deliveries" | "clients" | "clock">;

/** Records a delivery that starts no run. A repeated delivery leaves the first record unchanged. */
export async function recordRefusedDelivery(
  ports: RecordPorts,
  unstarted: DeliveryOrigin,
  reason: string,
  status: "refused" | "failed" = "refused",
): Promise<Delivery> {
  const delivery: Delivery = { ...deliveryOf(ports, unstarted, status), execution: null, reason };
  const gone = await missingClientReason(ports, unstarted.client);
  if (gone !== undefined) return recordWithoutClient(ports, delivery, gone);
  return (await ports.deliveries.begin(delivery)) ?? delivery;
}

/**
 * Records a refusal without sender and subject, because its client does not exist. If a client with this name is
 * created later, that client gets its own record.
 */
async function recordWithoutClient(ports: RecordPorts, known: Delivery, reason: string): Promise<Delivery> {
  const key = createHash("sha256").update(`nobody's ${known.key}`).digest("hex");
  const unnamed = { key, client: null, from: "", about: "", dedupe: "" };
  const delivery: Delivery = { ...known, ...unnamed, status: "refused", execution: null, reason };
  return (await ports.deliveries.begin(delivery)) ?? delivery;
}

/** Returns the reason why the client cannot have runs; undefined if it can, or if `client` is null. */
async function missingClientReason(ports: RecordPorts, client: string | null): Promise<string | undefined> {
  if (client === null) return undefined;
  try {
    await demandClient(ports, null, client);
  } catch (error) {
    if (error instanceof NotFound) return `there is no client "${client}" - \`nova clients create <name>\` makes it`;
    if (isRefusal(error)) return error.message;
    throw error;
  }
  return undefined;
}

function deliveryOf(
  ports: Pick<ServicePorts, "clock">,
  { type, workflow, trigger, client, dedupe, from, about }: DeliveryOrigin,
  status: Delivery["status"],
): Delivery {
  const now = ports.clock.now();
  const ulid = nextId(now);
  const key = createHash("sha256").update(JSON.stringify([workflow, type, trigger, client, dedupe]));
  return {
    format: 1,
    key: key.digest("hex"),
    id: `dlv_${ulid}`,
    type,
    workflow,
    trigger,
    client,
    at: new Date(now).toISOString(),
    from: shorten(from),
    about: shorten(about),
    dedupe: shorten(dedupe),
    status,
    execution: `exec_${ulid}`,
    reason: null,
    expiresAt: Math.floor(now / 1000) + keptSeconds,
  };
}

async function finishDelivery(
  ports: ServicePorts,
  delivery: Delivery,
  outcome: Pick<Delivery, "status" | "execution" | "reason">,
): Promise<Delivery> {
  await ports.deliveries.finish(delivery.key, outcome);
  return { ...delivery, ...outcome };
}

/** Cuts a text that a sender wrote to a length that every list can show. */
function shorten(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 499)}…`;
}

/** Returns whether the error would occur again at each repetition until a user removes its cause. */
function isRefusal(error: unknown): error is Error {
  return [NotFound, Refused, Conflict, Forbidden, engine.InputsRefused].some((kind) => error instanceof kind);
}

/**
 * Lists deliveries, newest first. Leaves out deliveries for clients that the caller may not see. Only keys for all
 * clients see deliveries that match no workflow.
 */
export async function listDeliveries(
  ports: ServicePorts,
  by: Principal,
  { limit, cursor, ...wanted }: PageQuery & Pick<DeliveryQuery, "client" | "status"> & { workflow?: string },
): Promise<Page<Delivery>> {
  const client = wanted.client ?? by.client;
  if (client !== null && !reaches(by, client)) return { items: [] };
  const list = (range: Range) => newest(ports, { ...wanted, client: client ?? undefined, ...range });
  const page = await readPage({ limit, cursor }, list, ({ id }) => id);
  return { ...page, items: await Promise.all(page.items.map((delivery) => hideMissingRun(ports, delivery))) };
}

/** Hides the reserved run id of an accepted delivery whose run never started. */
async function hideMissingRun({ executions }: ServicePorts, delivery: Delivery): Promise<Delivery> {
  const { status, execution } = delivery;
  if (status !== "accepted" || execution === null || (await executions.get(execution))) return delivery;
  return { ...delivery, execution: null };
}

/**
 * Reads the newest deliveries. If the query names no workflow and no client, these are the deliveries of all
 * workflows, and the deliveries that match no workflow.
 */
async function newest({ deliveries, workflows }: ServicePorts, query: DeliveryQuery): Promise<Delivery[]> {
  if (query.workflow !== undefined || query.client !== undefined) return deliveries.list(query);
  const ids = [null, ...(await Array.fromAsync(workflows.ids()))];
  const lists = await Promise.all(ids.map((workflow) => deliveries.list({ ...query, workflow })));
  const found = lists.flat().sort((a, b) => (a.id < b.id ? 1 : -1));
  return found.slice(0, query.limit);
}

/** A delivery with the labels of its run. Without a run, it has no labels. */
export type LabelledDelivery = Delivery & { labels: Record<string, string> };

type LabelQuery = Omit<Parameters<typeof listDeliveries>[2], keyof PageQuery>;

/** Number of runs that are read by label for one page, and number of deliveries that are read for one page. */
const pageSize = 200;

/**
 * Lists deliveries, newest first, as `listDeliveries` does; with `label`, only deliveries whose runs have this label.
 */
export async function listLabelledDeliveries(
  ports: ServicePorts,
  by: Principal,
  { label, limit, cursor, ...wanted }: LabelQuery & PageQuery & { label?: engine.Label | undefined },
): Promise<Page<LabelledDelivery>> {
  if (!label) return addLabels(ports, await listDeliveries(ports, by, { ...wanted, limit, cursor }));
  const runs = await runsWith(ports, by, wanted, label);
  const pageAt = (from = cursor) => listDeliveries(ports, by, { ...wanted, limit: pageSize, cursor: from });
  const items: Delivery[] = [];
  for await (const delivery of runs.size > 0 ? everyItem(pageAt) : []) {
    if (delivery.execution === null || !runs.has(delivery.execution)) continue;
    if (items.length === limit) return addLabels(ports, { items, ...defined({ cursor: items.at(-1)?.id }) });
    items.push(delivery);
  }
  return addLabels(ports, { items });
}

async function runsWith(ports: ServicePorts, by: Principal, { workflow, client }: LabelQuery, label: engine.Label) {
  const query = { label, limit: pageSize, ...defined({ workflow, client }) };
  const ids = new Set<string>();
  const pageAt = (cursor?: string) => listExecutions(ports, by, { ...query, ...defined({ cursor }) });
  for await (const { id } of everyItem(pageAt)) ids.add(id);
  return ids;
}

async function addLabels(ports: ServicePorts, page: Page<Delivery>): Promise<Page<LabelledDelivery>> {
  const items = page.items.map(async (delivery) => ({ ...delivery, labels: await labelsOf(ports, delivery) }));
  return { ...page, items: await Promise.all(items) };
}

async function labelsOf({ executions }: ServicePorts, { execution }: Delivery): Promise<Record<string, string>> {
  const unread = (error: unknown): engine.Execution | undefined => {
    if (error instanceof engine.UnreadableRecord) return undefined;
    throw error;
  };
  const run = execution === null ? undefined : await executions.get(execution).catch(unread);
  return run?.labels ?? {};
}

/** Returns the last part of a path-like name, safe as a file name; empty if nothing remains. */
export function fileNameIn(path: string): string {
  const last = path.split(/[/\\]/).at(-1) ?? "";
  const name = last.replaceAll(/\p{Cc}/gu, "").trim();
  return name === "." || name === ".." ? "" : name;
}
