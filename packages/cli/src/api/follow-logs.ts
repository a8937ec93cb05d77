import type { NovaClient } from "@nova/client";
import type { NodeAtWork, TraceEntry, TraceStep } from "@nova/engine";
import { EntryReader, nameOf } from "./entry-reader.ts";
import { readWhole } from "./recorded.ts";

export type LinkPlace = Pick<TraceEntry, "seq" | "scope" | "node_id">;

/** What a run prints: code that runs piece by piece, each failed attempt, then the entry with what was not told before. */
export type LogPiece =
  /** `leftOut`: bytes before the text that are not kept any more. */
  | { kind: "printed"; at: LinkPlace & Pick<NodeAtWork, "attempt">; text: string; leftOut: number }
  /** An attempt that failed, with those of its logs that have not come as pieces. */
  | { kind: "failed"; at: LinkPlace & Pick<NodeAtWork, "attempt">; step: TraceStep }
  /** `logs` and `steps`: those that have not come as pieces. */
  | { kind: "ended"; entry: TraceEntry; logs: string; steps: TraceStep[] }
  /** More nodes are at work than are followed. */
  | { kind: "crowd"; count: number; followed: number };

/** Each costs a request and a look into a sandbox at every pause. */
const maxFollowed = 5;
const pauseMs = 300;
const minBetweenLooksMs = 600;
const maxBetweenLooksMs = 2_000;

/** Until the run is over. Remembers what is at work and the open forks, however long the run is. */
export async function* followLogs(server: NovaClient, id: string, node?: string): AsyncGenerator<LogPiece> {
  const entries = new EntryReader(server, id, { full: true });
  const running = new RunningCode(server, id, node);
  let restMs = minBetweenLooksMs;
  for (;;) {
    const began = performance.now();
    const { execution, path, atWork } = await readWhole(server, id);
    for (const entry of await entries.fresh(path.length, !execution.open)) yield running.ended(entry);
    if (!execution.open) return;
    yield* running.now(atWork.nodes, atWork.count);
    restMs = running.size > 0 ? minBetweenLooksMs : Math.min(maxBetweenLooksMs, restMs * 1.5);
    // A long chain takes long to read: no more than a third of the time is spent on it.
    const lookAt = performance.now() + Math.max(restMs, 2 * (performance.now() - began));
    do {
      yield* running.prints();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    } while (performance.now() < lookAt);
  }
}

interface Followed {
  at: NodeAtWork;
  next: string | undefined;
  /** By attempt. */
  told: Map<number, Told>;
}

/** How many characters of a run of code were told, and the last of them. */
interface Told {
  count: number;
  end: string;
}

const keptEnd = 400;

class RunningCode {
  readonly #server: NovaClient;
  readonly #id: string;
  readonly #node: string | undefined;
  readonly #followed = new Map<string, Followed>();
  /** The failed attempts that were told, by link. */
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

  /** What is at work now: those that run code are followed, the first few; of all of them failed attempts are told. */
  *now(nodes: readonly NodeAtWork[], count: number): Generator<LogPiece> {
    for (const at of nodes) {
      if (this.#node !== undefined && at.node_id !== this.#node) continue;
      for (const step of this.#untoldAttempts(at, at.attempts ?? []))
        yield { kind: "failed", at: { ...at, attempt: step.attempt_number }, step };
      if (at.waits_for !== null || this.size >= maxFollowed || this.#followed.has(nameOf(at))) continue;
      this.#followed.set(nameOf(at), { at, next: undefined, told: new Map() });
    }
    const crowd = this.size === maxFollowed && this.#node === undefined ? count : 0;
    if (crowd > this.#crowd && this.#crowd === 0) yield { kind: "crowd", count, followed: maxFollowed };
    this.#crowd = Math.max(crowd, this.#crowd);
  }

  async *prints(): AsyncGenerator<LogPiece> {
    for (const one of this.#followed.values()) {
      const { text, left_out, next } = await this.#ask(one);
      if (next === null) continue; // it has ended, or not begun to print
      const attempt = Number(next.split("-")[1]);
      const { count = 0, end = "" } = runOf(next) === runOf(one.next) ? (one.told.get(attempt) ?? {}) : {};
      one.told.set(attempt, { count: count + left_out + text.length, end: (end + text).slice(-keptEnd) });
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

  ended(entry: TraceEntry): LogPiece {
    const [name, { attempt }] = [nameOf(entry), entry];
    const logs = untold(entry.logs ?? "", this.#followed.get(name)?.told.get(attempt));
    const steps = this.#untoldAttempts(entry, entry.steps);
    this.#followed.delete(name);
    this.#failed.delete(name);
    return { kind: "ended", entry, logs, steps };
  }

  /** Among steps of a link the failed attempts that were not told yet; other steps stay. */
  #untoldAttempts(at: LinkPlace, steps: readonly TraceStep[]): TraceStep[] {
    const [name, told] = [nameOf(at), this.#followed.get(nameOf(at))?.told];
    const failed = this.#failed.get(name) ?? new Set();
    const fresh = steps.filter((step) => step.error_class === undefined || !failed.has(step.attempt_number));
    this.#failed.set(name, new Set([...failed, ...fresh.map(({ attempt_number }) => attempt_number)]));
    return fresh.map((step) => ({
      ...step,
      ...(step.logs && { logs: untold(step.logs, told?.get(step.attempt_number)) }),
    }));
  }
}

/** Step and attempt of a place in a log. */
function runOf(next: string | undefined): string | undefined {
  return next?.split("-").slice(0, 2).join("-");
}

/** What of a run's logs comes behind what was told; of long logs the end alone is kept. */
function untold(logs: string, { count, end }: Told = { count: 0, end: "" }): string {
  if (end === "") return logs;
  if (logs.slice(Math.max(0, count - end.length), count) === end) return logs.slice(count);
  const at = logs.lastIndexOf(end);
  return at < 0 ? logs : logs.slice(at + end.length);
}
