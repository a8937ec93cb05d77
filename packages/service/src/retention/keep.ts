import type { Execution } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { listAllClients } from "../clients/clients.ts";
import { eraseMembers, readRestartFamily } from "../erasing/erase-run.ts";
import type { ServicePorts } from "../ports/index.ts";

const dayMs = 24 * 60 * 60 * 1000;
const runsInPage = 50;

export interface RetentionResult {
  erased: string[];
  failed: { id: string; reason: string }[];
}

interface ClientPass {
  slug: string;
  /** The time before which a run must have ended to be erased, in ISO 8601. */
  end: string;
  /**
   * ISO 8601: all runs that started before this time are already erased. The client's record stores this time, so that
   * the next call does not read these runs again.
   */
  mark: string | undefined;
  cursor: string | undefined;
  /**
   * ISO 8601: the time at which the first run that cannot be erased yet started. `mark` never becomes later than this
   * time.
   */
  staysFrom: string | undefined;
}

/**
 * Erases the contents of runs that ended longer ago than their client's `retentionDays`. Their chains stay verifiable.
 * Clients take turns, one page of runs each, so that no client waits for another. The client with the earliest `mark`
 * comes first. The call ends at `until` (milliseconds since the epoch), and the next call continues. A call can be
 * repeated.
 */
export async function eraseExpired(ports: ServicePorts, until = Number.POSITIVE_INFINITY): Promise<RetentionResult> {
  const retained: RetentionResult = { erased: [], failed: [] };
  const turns = await listPasses(ports);
  for (let turn = turns.shift(); turn && ports.clock.now() < until; turn = turns.shift()) {
    try {
      if (await erasePage(ports, turn, retained, until)) turns.push(turn);
    } catch (error) {
      retained.failed.push({ id: turn.slug, reason: String(error) });
    }
  }
  return retained;
}

async function listPasses(ports: ServicePorts): Promise<ClientPass[]> {
  const turns: ClientPass[] = [];
  for await (const { slug, quotas, erasedUntil, erasing } of listAllClients(ports)) {
    if (quotas?.retentionDays === undefined || erasing) continue;
    const end = new Date(ports.clock.now() - quotas.retentionDays * dayMs).toISOString();
    turns.push({ slug, end, mark: erasedUntil, cursor: undefined, staysFrom: undefined });
  }
  return turns.sort(({ mark: a = "" }, { mark: b = "" }) => (a < b ? -1 : a > b ? 1 : 0));
}

async function erasePage(ports: ServicePorts, turn: ClientPass, retained: RetentionResult, until: number) {
  const { slug, mark, end, cursor } = turn;
  const from = defined({ from: mark, cursor });
  const page = await ports.executions.list({ client: slug, to: end, limit: runsInPage, oldestFirst: true, ...from });
  for (const run of page.items) {
    if (ports.clock.now() >= until) {
      await moveMark(ports, turn, run.startedAt);
      return false;
    }
    if (!(await eraseRun(ports, run, end, retained))) turn.staysFrom ??= run.startedAt;
  }
  const reached = page.cursor === undefined ? end : page.items.at(-1)?.startedAt;
  if (reached !== undefined) await moveMark(ports, turn, reached);
  turn.cursor = page.cursor;
  return page.cursor !== undefined;
}

/**
 * Erases a run. Returns false if the run cannot be erased yet, for example because a restart of it is open. A run
 * inside another run is erased with the outer run.
 */
async function eraseRun(ports: ServicePorts, run: Execution, end: string, retained: RetentionResult): Promise<boolean> {
  if (run.erased === true) return true;
  const { open, endedAt } = run;
  if (open || endedAt === undefined || endedAt > end) return false;
  if (run.parent) return true;
  try {
    // Reads the record again, because `run`, which comes from a list, may not show a new restart yet.
    const record = (await ports.executions.get(run.id)) ?? run;
    if ((await readRestartFamily(ports, record)).some((one) => one.open)) return false;
    await eraseMembers(ports, record, [run.id]);
    retained.erased.push(run.id);
    return true;
  } catch (error) {
    retained.failed.push({ id: run.id, reason: String(error) });
    return false;
  }
}

async function moveMark({ clients }: ServicePorts, turn: ClientPass, reached: string): Promise<void> {
  const mark = turn.staysFrom ?? reached;
  if (turn.mark !== undefined && mark <= turn.mark) return;
  await clients.update(turn.slug, { erasedUntil: mark });
  turn.mark = mark;
}
