import type { HistoryEventType } from "@aws-sdk/client-sfn";
import type { JsonObject } from "../../json.ts";
import type { History } from "../history.ts";
import { Cancelled } from "./failure.ts";
import type { Host, Purpose } from "./host.ts";

/** The state that all threads of one execution share. */
export interface Run {
  readonly host: Host;
  readonly history: History;
  readonly executionArn: string;
}

/** A line of states: the main line, a branch of a Parallel, or an iteration of a Map. */
export class Thread {
  readonly run: Run;
  readonly signal: AbortSignal;
  /** `$$.Map` inside an iteration. */
  readonly map: JsonObject | undefined;
  lastEventId: number;
  /** The state that was entered and not left: an abort interrupts it. */
  current: { name: string; type: string } | undefined;

  constructor(run: Run, signal: AbortSignal, lastEventId: number, map?: JsonObject) {
    this.run = run;
    this.signal = signal;
    this.lastEventId = lastEventId;
    this.map = map;
  }

  /** Records an event; the next event of this thread follows it. */
  record(type: HistoryEventType, details?: object): number {
    this.lastEventId = this.run.history.record(this.lastEventId, type, details);
    return this.lastEventId;
  }

  /** Records an event beside the line: the next event follows the same event as this one. */
  note(type: HistoryEventType, details?: object): number {
    return this.run.history.record(this.lastEventId, type, details);
  }

  assertRunning(): void {
    if (this.signal.aborted) throw new Cancelled();
  }

  async sleep(ms: number, purpose: Purpose): Promise<void> {
    await this.run.host.sleep(ms, purpose, this.signal);
    this.assertRunning();
  }
}

export function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new Cancelled());
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", cancel));
  });
}

/** Creates a controller that also aborts with `outer`; `release` disconnects it. */
export function createChildController(outer: AbortSignal): { controller: AbortController; release(): void } {
  const controller = new AbortController();
  const follow = () => controller.abort(outer.reason);
  if (outer.aborted) follow();
  outer.addEventListener("abort", follow, { once: true });
  return { controller, release: () => outer.removeEventListener("abort", follow) };
}
