import { type BlobHome, cancelExecution, type Execution, erasureText } from "@nova/engine";
import { decodeTime, isValid } from "ulid";
import { demandClient } from "../clients/clients.ts";
import { Conflict, NotFound } from "../errors.ts";
import type { ErasableScope } from "../ports/archive.ts";
import { defaultClient } from "../ports/clients.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { everyListed, type Range } from "../ports/page.ts";
import type { Session } from "../ports/sessions.ts";
import { draftId } from "../workflows/find.ts";

/**
 * Cancels a run, and the runs inside it, if the run is open. The caller must do this before it erases the contents of
 * the run, because a run without contents can no longer be closed.
 */
export async function cancelIfOpen(ports: ServicePorts, id: string): Promise<void> {
  // Reads the record, since the list of open runs may be out of date.
  const record = await ports.executions.get(id);
  if (record?.open) await cancelExecution(ports, id);
}

type ErasePorts = Pick<ServicePorts, "eraser" | "executions" | "clock" | "chain" | "keyPair">;

/** Number of partitions that are erased concurrently. A map may have ten thousand items, each in its own partition. */
const atOnce = 16;

/**
 * Erases an execution and all its restarts, and returns the ids of these executions. Their chains stay verifiable.
 * Throws as `markForErasing` does.
 */
export async function eraseExecution(ports: ErasePorts, execution: Execution): Promise<string[]> {
  const ids = await markForErasing(ports, execution);
  await eraseMembers(ports, execution, ids);
  return ids;
}

/**
 * Marks an execution and all its restarts, which hold copies of its data, so that no further restart starts from them.
 * Returns their ids. Throws `Conflict` while one of these executions is open, and for a run inside another run.
 */
export async function markForErasing(ports: ErasePorts, execution: Execution): Promise<string[]> {
  const { id, parent } = execution;
  if (parent)
    throw new Conflict(`execution ${id} is a part of ${await findOutermostRun(ports, execution)} - erase that one`);
  const family = await readClosedFamily(ports, execution);
  const open = family.find((one) => one.open);
  const which = open?.id === id ? "" : `, which was restarted from ${id},`;
  if (open) throw new Conflict(`execution ${open.id}${which} is open - cancel it, or wait for its end, and erase then`);
  const ids = family.map((one) => one.id);
  await mark(ports, ids, "asked");
  return ids;
}

/**
 * Maximum number of milliseconds to wait for the close of a run whose end is recorded. A close usually takes some
 * milliseconds.
 */
const closingMs = 5_000;
const lookEveryMs = 20;

/** Reads an execution and all its restarts. Waits for at most `closingMs` until those that have ended are closed. */
async function readClosedFamily(ports: ErasePorts, execution: Execution): Promise<Execution[]> {
  const { clock } = ports;
  const giveUpMs = clock.now() + closingMs;
  for (let newest = execution; ; newest = (await ports.executions.get(execution.id)) ?? execution) {
    const family = await readRestartFamily(ports, newest);
    const isClosing = family.some((one) => one.open && one.endedAt !== undefined);
    if (!isClosing || clock.now() > giveUpMs) return family;
    await clock.sleep(lookEveryMs);
  }
}

function mark({ executions }: ErasePorts, ids: readonly string[], erased: NonNullable<Execution["erased"]>) {
  return Promise.all(ids.map((id) => executions.update(id, { erased })));
}

/** Returns an execution and all its restarts. A restart that is being created counts as open. */
export async function readRestartFamily(ports: ErasePorts, execution: Execution): Promise<Execution[]> {
  const family = new Map([[execution.id, execution]]);
  for (const source of family.values()) {
    for (const id of source.restarts ?? []) {
      const restart = (await ports.executions.get(id)) ?? findRestartInCreation(ports, source, id);
      // An unverified imported record may name any execution as its restart. So the restart counts only if it names
      // that record as its source.
      if (restart?.client === source.client && restart.restartedFrom === source.id) family.set(id, restart);
    }
  }
  return [...family.values()];
}

/**
 * If a run names a restart, but the restart has no record after this time, the process that was creating the restart
 * counts as crashed.
 */
const madeMs = 60 * 60 * 1000;

function findRestartInCreation({ clock }: ErasePorts, source: Execution, id: string): Execution | undefined {
  const { erased: _, restarts: __, endedAt: ___, ...like } = source;
  const ulid = id.slice("exec_".length);
  const isNew = isValid(ulid) && Math.abs(clock.now() - decodeTime(ulid)) < madeMs;
  return isNew ? { ...like, id, restartedFrom: source.id, open: true } : undefined;
}

/**
 * Erases the executions `ids` of one family. A family is an execution with all its restarts, and its members share
 * blobs. If no member has contents any more, the function also removes these blobs.
 */
export async function eraseMembers(ports: ErasePorts, { client, root }: BlobHome, ids: readonly string[]) {
  for (const id of ids) await eraseContents(ports, id);
  // All these executions are marked for erasure, so the family gets no new restart, and its last member is known. After
  // a crash, the next call repeats the steps below.
  await mark(ports, ids, "emptied");
  const first = await ports.executions.get(root);
  const family = first ? await readRestartFamily(ports, first) : [];
  if (family.every(({ erased }) => erased === "emptied" || erased === true)) await ports.eraser.blobs({ client, root });
  await mark(ports, ids, true);
}

/** Returns the id of the outermost run: it contains this run, and no other run contains it. */
export async function findOutermostRun(
  ports: Pick<ServicePorts, "executions">,
  { id, parent }: Execution,
): Promise<string> {
  const around = parent && (await ports.executions.get(parent.execution));
  return around ? findOutermostRun(ports, around) : (parent?.execution ?? id);
}

/**
 * Erases the contents of an execution. It first writes a signed note, since verification would otherwise report the
 * removed contents as tampering. Then it empties the entries, and last it removes the blobs that the entries name.
 */
export async function eraseContents(
  { eraser, chain, keyPair }: Pick<ErasePorts, "eraser" | "chain" | "keyPair">,
  execution: string,
): Promise<void> {
  const waiting: ErasableScope[] = [{ execution, scope: "" }];
  while (waiting.length > 0) {
    const erasing = waiting.splice(-atOnce).map(async (at) => {
      if (at.scope === "") {
        const signature = await keyPair.sign(erasureText(at.execution));
        await chain.putNote(at.execution, { kind: "erased", signature });
        await eraser.traces(at.execution);
      }
      waiting.push(...(await eraser.contents(at)));
    });
    await Promise.all(erasing);
  }
}

/**
 * Checks, right after a run started, that its client still exists. If the client was deleted in the meantime, its
 * erasure may have missed the run. In that case this function cancels and erases the run, and throws `Conflict` or
 * `NotFound`. If there is a queue of erasures, the function only enqueues this work, since a Lambda that starts runs
 * may lack the right to cancel them.
 */
export async function demandClientAfterStart(ports: ServicePorts, by: Principal, { id, client }: Execution) {
  try {
    await demandClient(ports, by, client);
  } catch (error) {
    if (error instanceof Conflict || error instanceof NotFound) {
      if (ports.erasureQueue) await ports.erasureQueue.enqueue({ client, execution: id });
      else await eraseStraggler(ports, client, id);
    }
    throw error;
  }
}

/**
 * Erases a run that started while its client was being deleted. Returns false if the client still exists, or the run
 * belongs to another client.
 */
export async function eraseStraggler(ports: ServicePorts, client: string, execution: string): Promise<boolean> {
  const record = await ports.executions.get(execution);
  if (record?.client !== client || client === defaultClient) return false;
  const owner = await ports.clients.get(client);
  if (owner && !owner.erasing) return false;
  await cancelIfOpen(ports, await findOutermostRun(ports, record));
  await cancelIfOpen(ports, execution);
  await eraseContents(ports, execution);
  await ports.eraser.blobs({ client, root: record.root });
  // Removes the other traces of the run. While the erasure of the client is in progress, that erasure removes them
  // instead.
  let cursor: string | undefined;
  do cursor = owner ? undefined : await ports.eraser.rest(client, cursor);
  while (cursor !== undefined);
  return true;
}

/** Cancels the session's runs, which cannot continue without their state machine. */
export async function cancelRuns(ports: ServicePorts, { state }: Pick<Session, "state">): Promise<void> {
  for (const { execution } of state.runs) await cancelIfOpen(ports, execution);
}

/**
 * Removes a session and its state machine. The function keeps the definitions, since the session's runs need them. A
 * call can be repeated.
 */
export async function removeSession(ports: ServicePorts, session: Pick<Session, "id" | "client">): Promise<void> {
  const whole = await ports.sessions.get(session.id);
  if (whole) await cancelRuns(ports, whole);
  const published = await ports.workflows.latest(draftId(session));
  if (published) await ports.machineVersions.removeMachine(published.stateMachineArn);
  await ports.sessions.remove(session);
}

export async function removeExpiredSessions(ports: ServicePorts, until = Number.POSITIVE_INFINITY): Promise<string[]> {
  const removed: string[] = [];
  const now = new Date(ports.clock.now()).toISOString();
  for await (const session of ports.sessions.expired(now)) {
    if (ports.clock.now() >= until) break;
    await removeSession(ports, session);
    removed.push(session.id);
  }
  return removed;
}

export async function removeSessionsOf(ports: ServicePorts, client: string): Promise<void> {
  const list = (range: Range) => ports.sessions.list({ ...range, client });
  for await (const session of everyListed(list, ({ id }) => id)) await removeSession(ports, session);
}
