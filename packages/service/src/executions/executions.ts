import { once } from "node:events";
import {
  asWritten,
  type BlobHome,
  BlobMissing,
  Context,
  cancelExecution,
  type Execution,
  type ExecutionList,
  ExecutionNotFound,
  type ExecutionQuery,
  membersOf,
  objectText,
  type Ports,
  RawJson,
  readTrace,
  readTraceLink,
  type Trace,
  type TraceEntry,
  UnreadableRecord,
  type Verification,
  verifyExecution,
  wholeValue,
} from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { reaches } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { beginErasing, eraseMembers } from "../erasing/erase-run.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Page } from "../ports/page.ts";

type FindPorts = Pick<ServicePorts, "executions">;

/**
 * Throws `ExecutionNotFound`, in the same words for one that is not there and one out of reach. Throws `UnreadableRecord`
 * where its record says another client, or none that can be read, only to keys of all clients.
 */
export async function executionWithin(ports: FindPorts, by: Principal, id: string): Promise<Execution> {
  const record = await ports.executions.get(id).catch((error: unknown) => {
    const isOutOfReach = error instanceof UnreadableRecord && !reaches(by, error.client);
    throw isOutOfReach ? new ExecutionNotFound(id) : error;
  });
  if (!record || !reaches(by, record.client)) throw new ExecutionNotFound(id);
  return record;
}

/** Newest first. A client that the key does not reach has no executions, like a client that does not exist. */
export async function listExecutions(ports: FindPorts, by: Principal, query: ExecutionQuery): Promise<ExecutionList> {
  const client = query.client ?? by.client;
  if (client !== null && !reaches(by, client)) return { items: [] };
  return ports.executions.list({ ...query, ...defined({ client: client ?? undefined }) });
}

/** Checks the chain of a run, and its record: one that cannot be read is broken. Throws `ExecutionNotFound`. */
export async function verify(ports: ServicePorts, by: Principal, id: string): Promise<Verification> {
  await executionWithin(ports, by, id).catch((error: unknown) => {
    if (!(error instanceof UnreadableRecord)) throw error;
  });
  return verifyExecution(ports, id);
}

/** What the check of one of many runs found. */
export interface VerifiedRun {
  id: string;
  found: Verification;
}

/** Runs that are checked at the same time: each check reads a whole chain. */
const checkedAtOnce = 4;

/** Checks the runs of one page of a list, newest first; those whose records cannot be read come first. */
export async function verifyRuns(
  ports: ServicePorts,
  by: Principal,
  query: ExecutionQuery,
): Promise<Page<VerifiedRun>> {
  const { items: runs, unreadable = [], cursor } = await listExecutions(ports, by, query);
  const ids = [...unreadable, ...runs.map(({ id }) => id)];
  const items: VerifiedRun[] = [];
  while (ids.length > 0) {
    const part = ids.splice(0, checkedAtOnce);
    items.push(...(await Promise.all(part.map(async (id) => ({ id, found: await verifyExecution(ports, id) })))));
  }
  return { items, ...defined({ cursor }) };
}

type ReadPorts = Pick<ServicePorts, keyof Parameters<typeof readTrace>[0]>;

/** The state of a run and its context, with large values loaded. Throws `ExecutionNotFound`. */
export async function readExecution(ports: ReadPorts, id: string): Promise<Trace> {
  const trace = await readTrace(ports, id);
  return { ...trace, context: await wholeContext(ports, trace.execution, trace.context) };
}

/**
 * One link, in whatever branch; `full` with code, contexts and logs, `references` with large values as the chain has them.
 * Undefined where there is none.
 */
export async function readLink(
  ports: ReadPorts,
  id: string,
  { references = false, ...place }: { seq: number; scope: string; full: boolean; references?: boolean },
): Promise<TraceEntry | undefined> {
  const { entry: found, execution } = await readTraceLink(ports, id, place);
  if (!found || references) return found;
  const { input_context: input, output_result: output } = found;
  return {
    ...found,
    ...(input && { input_context: await wholeContext(ports, execution, input) }),
    ...(output && { output_result: await wholeContext(ports, execution, output) }),
  };
}

/** AWS Lambda answers at most 6 MB; what else is in an answer needs room, too. */
const maxBytes = 4 * 1024 * 1024;

/**
 * A context with the texts and the JSON that lie in blobs put in their places, as far as there is room. Bytes, what is
 * too large and what was erased stay references: `{"$blob": {sha256, bytes, type}}`. Own keys are as they were written.
 */
export async function wholeContext(
  { blobs }: Pick<Ports, "blobs">,
  { client, root }: BlobHome,
  { text }: RawJson,
): Promise<RawJson> {
  if (!text.includes('"$blob"')) return asWritten(new RawJson(text));
  let left = maxBytes - Buffer.byteLength(text);
  const members = membersOf(text);
  const context = new Context(members.map((member) => ({ ...member, by: 0 })));
  const whole = [];
  for (const { key, json } of members) {
    const value = json.includes('"$blob"')
      ? await unlessErased(() => wholeValue(context, key, left, { home: { client, root }, blobs }))
      : null;
    if (value !== null) left -= Buffer.byteLength(value);
    whole.push({ key, json: value ?? json });
  }
  return asWritten(new RawJson(objectText(whole)));
}

/** Null, too, for a blob that an earlier release took for JSON although it is none. */
async function unlessErased(load: () => Promise<string | null>): Promise<string | null> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof BlobMissing || error instanceof SyntaxError) return null;
    throw error;
  }
}

/**
 * Erases what an execution and everything restarted from it knew, or hands that over; answers the ids. Throws
 * `ExecutionNotFound`, and `Conflict` as `eraseExecution`.
 */
export async function erase(ports: ServicePorts, by: Principal, id: string): Promise<string[]> {
  const execution = await executionWithin(ports, by, id);
  const { client } = execution;
  const ids = await beginErasing(ports, execution);
  await recordDeed(ports, by, { action: "execution.erased", client, subject: id, detail: { executions: ids.length } });
  if (ports.erasureQueue) await ports.erasureQueue.enqueue({ client, execution: id, isAsked: true });
  else await eraseMembers(ports, execution, ids);
  return ids;
}

/** AWS gives a request 30 seconds. The turns of ten thousand items may take longer to close. */
const longestWaitMs = 15_000;

/**
 * Stops a run; of one that is over it answers how it ended. A run with thousands of branches is stopped when this answers,
 * and may still be `running`: then whoever hears that its state machine was stopped goes on closing it, and if nobody
 * does, the sweeper. Throws `ExecutionNotFound`.
 */
export async function cancel(ports: ServicePorts, by: Principal, id: string): Promise<Pick<Execution, "status">> {
  const { client, open, status } = await executionWithin(ports, by, id);
  const closing = cancelExecution(ports, id);
  const late = once(ports.timer.timeout(longestWaitMs), "abort").then(() => ({ status }));
  closing.catch(() => undefined); // after this has answered, the sweeper closes what could not be closed
  const answer = await Promise.race([closing, late]);
  if (open) await recordDeed(ports, by, { action: "execution.cancelled", client, subject: id });
  return answer;
}
