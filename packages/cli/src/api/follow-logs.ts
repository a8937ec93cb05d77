import type { NovaClient } from "@nova/client";
import type { AtWork, NodeAtWork, TraceEntry, TraceStep } from "@nova/engine";
import { entryName, entryReader, isOpen, readWhole } from "./recorded.ts";

export type LinkPlace = Pick<TraceEntry, "seq" | "scope" | "node_id">;

/**
 * A piece of a run's output: text that running code has printed, a failed attempt, or a new entry with its unreported
 * output. A piece of the kind `crowd` says that the command follows only some of the running nodes.
 */
export type LogPiece =
  /** `leftOut` is the number of bytes before `text` that are no longer stored. */
  | { kind: "printed"; at: LinkPlace & Pick<NodeAtWork, "attempt">; text: string; leftOut: number }
  | { kind: "failed"; at: LinkPlace & Pick<NodeAtWork, "attempt">; step: TraceStep }
  | { kind: "ended"; entry: TraceEntry; logs: string; steps: TraceStep[] }
  | { kind: "crowd"; count: number; followed: number };

/**
 * The largest number of nodes whose output the command follows. After each pause, the command sends one request for
 * every followed node. For each request, the server reads the output in the sandbox of the node.
 */
const maxFollowed = 5;
const pauseMs = 300;
const minBetweenLooksMs = 600;
const maxBetweenLooksMs = 2_000;

/**
 * Yields pieces of a run's output until the run is over. It remembers only open nodes and forks, so a long run needs no
 * more memory than a short run.
 */
export async function* followLogs(server: NovaClient, id: string, node?: string): AsyncGenerator<LogPiece> {
  const readNew = entryReader(server, id, { full: true });
  const running = watchRunningCode(server, id, node);
  let restMs = minBetweenLooksMs;
  for (;;) {
    const began = performance.now();
    const execution = await readWhole(server, id);
    for (const entry of await readNew(execution)) yield running.endEntry(entry);
    if (!isOpen(execution)) return;
    yield* running.followNodes(execution.at_work);
    restMs = running.isEmpty() ? Math.min(maxBetweenLooksMs, restMs * 1.5) : minBetweenLooksMs;
    // Waits at least twice as long as the last read took, because reading a long chain is slow.
    const lookAt = performance.now() + Math.max(restMs, 2 * (performance.now() - began));
    do {
      yield* running.readPrinted();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    } while (performance.now() < lookAt);
  }
}

interface Followed {
  at: NodeAtWork;
  next: string | undefined;
  /** The output that `followLogs` has already reported, by attempt. */
  reported: Map<number, Reported>;
}

interface Reported {
  count: number;
  end: string;
}

const keptEnd = 400;

function watchRunningCode(server: NovaClient, id: string, node: string | undefined) {
  const followed = new Map<string, Followed>();
  /** The attempts whose failure was already reported, by entry. */
  const failures = new Map<string, Set<number>>();
  let reportedCrowd = 0;

  /** Reports failed attempts of all working nodes, and starts to follow the first few that run code. */
  function* followNodes({ nodes, count }: AtWork): Generator<LogPiece> {
    for (const at of nodes) {
      if (node !== undefined && at.node_id !== node) continue;
      for (const step of newAttempts(at, at.attempts ?? []))
        yield { kind: "failed", at: { ...at, attempt: step.attempt_number }, step };
      if (at.waits_for !== null || followed.size >= maxFollowed || followed.has(entryName(at))) continue;
      followed.set(entryName(at), { at, next: undefined, reported: new Map() });
    }
    const crowd = followed.size === maxFollowed && node === undefined ? count : 0;
    if (crowd > reportedCrowd && reportedCrowd === 0) yield { kind: "crowd", count, followed: maxFollowed };
    reportedCrowd = Math.max(crowd, reportedCrowd);
  }

  async function* readPrinted(): AsyncGenerator<LogPiece> {
    for (const one of followed.values()) {
      const { text, left_out, next } = await ask(one);
      if (next === null) continue; // The code has ended, or it has not printed yet.
      const attempt = Number(next.split("-")[1]);
      const { count = 0, end = "" } = runName(next) === runName(one.next) ? (one.reported.get(attempt) ?? {}) : {};
      one.reported.set(attempt, { count: count + left_out + text.length, end: (end + text).slice(-keptEnd) });
      one.next = next;
      const at = { ...one.at, attempt };
      yield { kind: "printed", at, text, leftOut: left_out };
    }
  }

  function ask({ at: { seq, scope }, next }: Followed) {
    const query = { ...(scope !== "" && { scope }), ...(next !== undefined && { after: next }) };
    const params = { path: { id, seq }, query };
    return server.ask(server.api.GET("/executions/{id}/chain/{seq}/logs", { params }));
  }

  function endEntry(entry: TraceEntry): LogPiece {
    const [name, { attempt }] = [entryName(entry), entry];
    const logs = unreportedPart(entry.logs ?? "", followed.get(name)?.reported.get(attempt));
    const steps = newAttempts(entry, entry.steps);
    followed.delete(name);
    failures.delete(name);
    return { kind: "ended", entry, logs, steps };
  }

  /** Returns the steps of an entry without the failed attempts and the output that were already reported. */
  function newAttempts(at: LinkPlace, steps: readonly TraceStep[]): TraceStep[] {
    const [name, reported] = [entryName(at), followed.get(entryName(at))?.reported];
    const failed = failures.get(name) ?? new Set();
    const fresh = steps.filter((step) => step.error_class === undefined || !failed.has(step.attempt_number));
    failures.set(name, new Set([...failed, ...fresh.map(({ attempt_number }) => attempt_number)]));
    return fresh.map((step) => ({
      ...step,
      ...(step.logs && { logs: unreportedPart(step.logs, reported?.get(step.attempt_number)) }),
    }));
  }

  return { isEmpty: () => followed.size === 0, followNodes, readPrinted, endEntry };
}

/** Returns the step and the attempt of a position in a log: `0-1` for `0-1-6`. */
function runName(next: string | undefined): string | undefined {
  return next?.split("-").slice(0, 2).join("-");
}

/**
 * Returns the part of `logs` that was not reported yet. NOVA stores only the end of long output, so `logs` may lack its
 * start.
 */
function unreportedPart(logs: string, { count, end }: Reported = { count: 0, end: "" }): string {
  if (end === "") return logs;
  if (logs.slice(Math.max(0, count - end.length), count) === end) return logs.slice(count);
  const at = logs.lastIndexOf(end);
  return at < 0 ? logs : logs.slice(at + end.length);
}
