import type { NovaClient } from "@nova/client";
import type { AtWork, NodeAtWork, TraceEntry, TraceStep } from "@nova/engine";
import { entryName, entryReader, isOpen, readWhole } from "./recorded.ts";

export type LinkPlace = Pick<TraceEntry, "seq" | "scope" | "node_id">;

/**
 * A piece of a run's output: text of running code, a failed attempt, or an ended entry with its unreported output. If
 * the command follows only some of the running nodes, a piece gives the number of running nodes.
 */
export type LogPiece =
  /** `leftOut` is the number of bytes before `text` that are no longer stored. */
  | { kind: "printed"; at: LinkPlace & Pick<NodeAtWork, "attempt">; text: string; leftOut: number }
  | { kind: "failed"; at: LinkPlace & Pick<NodeAtWork, "attempt">; step: TraceStep }
  | { kind: "ended"; entry: TraceEntry; logs: string; steps: TraceStep[] }
  | { kind: "crowd"; count: number; followed: number };

/**
 * The largest number of nodes whose output the command follows. After each pause, the command sends a request for every
 * followed node, and the server reads in the sandbox of the node.
 */
const maxFollowed = 5;
const pauseMs = 300;
const minBetweenLooksMs = 600;
const maxBetweenLooksMs = 2_000;

/**
 * Yields pieces of a run's output until the run is over. It remembers only open nodes and forks, so a long run needs no
 * more memory.
 */
export async function* followLogs(server: NovaClient, id: string, node?: string): AsyncGenerator<LogPiece> {
  const readNew = entryReader(server, id, { full: true });
  const running = new RunningCode(server, id, node);
  let restMs = minBetweenLooksMs;
  for (;;) {
    const began = performance.now();
    const execution = await readWhole(server, id);
    for (const entry of await readNew(execution)) yield running.endEntry(entry);
    if (!isOpen(execution)) return;
    yield* running.followNodes(execution.at_work);
    restMs = running.size > 0 ? minBetweenLooksMs : Math.min(maxBetweenLooksMs, restMs * 1.5);
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

class RunningCode {
  readonly #server: NovaClient;
  readonly #id: string;
  readonly #node: string | undefined;
  readonly #followed = new Map<string, Followed>();
  /** The attempts whose failure was already reported, by entry. */
  readonly #failed = new Map<string, Set<number>>();
  #crowd = 0;

  constructor(server: NovaClient, id: string, node: string | undefined) {
    this.#server = server;
    this.#id = id;
    this.#node = node;
  }

  get size(): number {
    return this.#followed.size;
  }

  /** Reports failed attempts of all working nodes, and starts to follow the first few that run code. */
  *followNodes({ nodes, count }: AtWork): Generator<LogPiece> {
    for (const at of nodes) {
      if (this.#node !== undefined && at.node_id !== this.#node) continue;
      for (const step of this.#newAttempts(at, at.attempts ?? []))
        yield { kind: "failed", at: { ...at, attempt: step.attempt_number }, step };
      if (at.waits_for !== null || this.size >= maxFollowed || this.#followed.has(entryName(at))) continue;
      this.#followed.set(entryName(at), { at, next: undefined, reported: new Map() });
    }
    const crowd = this.size === maxFollowed && this.#node === undefined ? count : 0;
    if (crowd > this.#crowd && this.#crowd === 0) yield { kind: "crowd", count, followed: maxFollowed };
    this.#crowd = Math.max(crowd, this.#crowd);
  }

  async *readPrinted(): AsyncGenerator<LogPiece> {
    for (const one of this.#followed.values()) {
      const { text, left_out, next } = await this.#ask(one);
      if (next === null) continue; // The code has ended, or it has not printed yet.
      const attempt = Number(next.split("-")[1]);
      const { count = 0, end = "" } = runName(next) === runName(one.next) ? (one.reported.get(attempt) ?? {}) : {};
      one.reported.set(attempt, { count: count + left_out + text.length, end: (end + text).slice(-keptEnd) });
      one.next = next;
      const at = { ...one.at, attempt };
      yield { kind: "printed", at, text, leftOut: left_out };
    }
  }

  #ask({ at: { seq, scope }, next }: Followed) {
    const query = { ...(scope !== "" && { scope }), ...(next !== undefined && { after: next }) };
    const params = { path: { id: this.#id, seq }, query };
    return this.#server.ask(this.#server.api.GET("/executions/{id}/chain/{seq}/logs", { params }));
  }

  endEntry(entry: TraceEntry): LogPiece {
    const [name, { attempt }] = [entryName(entry), entry];
    const logs = unreportedPart(entry.logs ?? "", this.#followed.get(name)?.reported.get(attempt));
    const steps = this.#newAttempts(entry, entry.steps);
    this.#followed.delete(name);
    this.#failed.delete(name);
    return { kind: "ended", entry, logs, steps };
  }

  /** Returns the steps of an entry without the failed attempts and the output that were already reported. */
  #newAttempts(at: LinkPlace, steps: readonly TraceStep[]): TraceStep[] {
    const [name, reported] = [entryName(at), this.#followed.get(entryName(at))?.reported];
    const failed = this.#failed.get(name) ?? new Set();
    const fresh = steps.filter((step) => step.error_class === undefined || !failed.has(step.attempt_number));
    this.#failed.set(name, new Set([...failed, ...fresh.map(({ attempt_number }) => attempt_number)]));
    return fresh.map((step) => ({
      ...step,
      ...(step.logs && { logs: unreportedPart(step.logs, reported?.get(step.attempt_number)) }),
    }));
  }
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
