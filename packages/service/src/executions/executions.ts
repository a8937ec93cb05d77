import { once } from "node:events";
import * as engine from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { reaches } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { eraseMembers, markForErasing } from "../erasing/erase-run.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";

type FindPorts = Pick<ServicePorts, "executions">;

/**
 * Finds an execution. Throws the same `ExecutionNotFound` if the execution does not exist, or is out of the caller's
 * reach. Throws `UnreadableRecord` only if the caller may know that the execution exists. If the client in the record
 * is unreadable, the caller needs a key for all clients.
 */
export async function executionWithin(ports: FindPorts, by: Principal, id: string): Promise<engine.Execution> {
  const record = await ports.executions.get(id).catch((error: unknown) => {
    const isOutOfReach = error instanceof engine.UnreadableRecord && !reaches(by, error.client);
    throw isOutOfReach ? new engine.ExecutionNotFound(id) : error;
  });
  if (!record || !reaches(by, record.client)) throw new engine.ExecutionNotFound(id);
  return record;
}

/**
 * Lists executions, newest first. For a client that the key does not reach, the list is empty, as for a client that
 * does not exist.
 */
export async function listExecutions(ports: FindPorts, by: Principal, query: engine.ExecutionQuery) {
  const client = query.client ?? by.client;
  if (client !== null && !reaches(by, client)) return { items: [] };
  return ports.executions.list({ ...query, ...defined({ client: client ?? undefined }) });
}

/** Verifies the chain and the record of a run; an unreadable record counts as broken. Throws `ExecutionNotFound`. */
export async function verify(ports: ServicePorts, by: Principal, id: string): Promise<engine.Verification> {
  await executionWithin(ports, by, id).catch((error: unknown) => {
    if (!(error instanceof engine.UnreadableRecord)) throw error;
  });
  return engine.verifyExecution(ports, id);
}

/** Number of runs that are verified concurrently. It is small, since each verification reads a whole chain. */
const checkedAtOnce = 4;

/** Verifies the runs of one page, newest first; runs with unreadable records come first. */
export async function verifyRuns(ports: ServicePorts, by: Principal, query: engine.ExecutionQuery) {
  const { items: runs, unreadable = [], cursor } = await listExecutions(ports, by, query);
  const ids = [...unreadable, ...runs.map(({ id }) => id)];
  const items: { id: string; found: engine.Verification }[] = [];
  while (ids.length > 0) {
    const part = ids.splice(0, checkedAtOnce);
    items.push(
      ...(await Promise.all(part.map(async (id) => ({ id, found: await engine.verifyExecution(ports, id) })))),
    );
  }
  return { items, ...defined({ cursor }) };
}

type ReadPorts = Pick<ServicePorts, keyof Parameters<typeof engine.readState>[0]>;

/** Returns the state of a run and its context, with large values loaded. Throws `ExecutionNotFound`. */
export async function readExecution(ports: ReadPorts, id: string): Promise<engine.RunState> {
  const state = await engine.readState(ports, id);
  return { ...state, context: await wholeContext(ports, state.execution, state.context) };
}

/**
 * Reads one entry of any branch. With `full`, the result includes code, contexts and logs. With `references`, large
 * values stay references. Returns undefined if there is no such entry.
 */
export async function readLink(
  ports: ReadPorts,
  id: string,
  { references = false, ...place }: { seq: number; scope: string; full: boolean; references?: boolean },
): Promise<engine.TraceEntry | undefined> {
  const { entry: found, execution } = await engine.readTraceLink(ports, id, place);
  if (!found || references) return found;
  const { input_context: input, output_result: output } = found;
  return {
    ...found,
    ...(input && { input_context: await wholeContext(ports, execution, input) }),
    ...(output && { output_result: await wholeContext(ports, execution, output) }),
  };
}

/** Limit for the loaded values of a context. AWS Lambda limits the whole answer to 6 MB. */
const maxBytes = 4 * 1024 * 1024;

/**
 * Replaces references in a context by the texts and JSON of their blobs, as far as they fit. References to bytes,
 * oversized values and erased values are kept: `{"$blob": {sha256, bytes, type}}`. All other values keep their original
 * text.
 */
export async function wholeContext(
  { blobs }: Pick<engine.Ports, "blobs">,
  { client, root }: engine.BlobHome,
  { text }: engine.RawJson,
): Promise<engine.RawJson> {
  if (!text.includes('"$blob"')) return engine.asWritten(new engine.RawJson(text));
  let left = maxBytes - Buffer.byteLength(text);
  const members = engine.membersOf(text);
  const context = new engine.Context(members.map((member) => ({ ...member, by: 0 })));
  const whole = [];
  for (const { key, json } of members) {
    const value = json.includes('"$blob"')
      ? await loadUnlessErased(() => engine.wholeValue(context, key, left, { home: { client, root }, blobs }))
      : null;
    if (value !== null) left -= Buffer.byteLength(value);
    whole.push({ key, json: value ?? json });
  }
  return engine.asWritten(new engine.RawJson(engine.objectText(whole)));
}

/** Loads a value; null if its blob was erased, or if the blob of an imported run is not valid JSON. */
async function loadUnlessErased(load: () => Promise<string | null>): Promise<string | null> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof engine.BlobMissing || error instanceof SyntaxError) return null;
    throw error;
  }
}

/**
 * Erases the data of an execution and of all its restarts, or enqueues this erasure. Returns the ids of these
 * executions. Throws `ExecutionNotFound`, and `Conflict` as `eraseExecution` does.
 */
export async function erase(ports: ServicePorts, by: Principal, id: string): Promise<string[]> {
  const execution = await executionWithin(ports, by, id);
  const { client } = execution;
  const ids = await markForErasing(ports, execution);
  await recordDeed(ports, by, { action: "execution.erased", client, subject: id, detail: { executions: ids.length } });
  if (ports.erasureQueue) await ports.erasureQueue.enqueue({ client, execution: id, isAsked: true });
  else await eraseMembers(ports, execution, ids);
  return ids;
}

/**
 * Maximum number of milliseconds for which a request to cancel a run waits for the close. AWS allows a request 30
 * seconds, and closing ten thousand items may take longer.
 */
const longestWaitMs = 15_000;

/**
 * Cancels a run and returns its status. The status of a run that had already ended stays unchanged. A run with
 * thousands of branches may still be `running`: its state machine is stopped, and the function that handles the stop,
 * or the sweeper, continues the close. Throws `ExecutionNotFound`.
 */
export async function cancel(ports: ServicePorts, by: Principal, id: string) {
  const { client, open, status } = await executionWithin(ports, by, id);
  const closing = engine.cancelExecution(ports, id);
  const timeout = once(ports.timer.timeout(longestWaitMs), "abort").then(() => ({ status }));
  // If the close fails after the caller got its answer at the timeout, the function ignores the error: the sweeper
  // completes the close.
  closing.catch(() => undefined);
  const answer = await Promise.race([closing, timeout]);
  if (open) await recordDeed(ports, by, { action: "execution.cancelled", client, subject: id });
  return answer;
}
