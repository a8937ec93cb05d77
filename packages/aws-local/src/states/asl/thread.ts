import type { HistoryEventType } from "@aws-sdk/client-sfn";
import type { JsonObject } from "../../json.ts";
import type { History } from "../history.ts";
import { Cancelled } from "./failure.ts";
import type { Host, Purpose } from "./host.ts";

/** The parts of an execution that all of its threads share. */
export interface Run {
  readonly host: Host;
  readonly history: History;
  readonly executionArn: string;
}

/**
 * A line: a sequence of states that run one after the other. An execution has a main line, and a line for each branch
 * of a Parallel and each iteration of a Map.
 */
export class Thread {
  readonly run: Run;
  readonly signal: AbortSignal;
  /** The value of `$$.Map` inside an iteration; undefined outside. */
  readonly map: JsonObject | undefined;
  lastEventId: number;
  /** The state that has been entered and not yet left; an abort interrupts it. */
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

  /** Records an event that no later event follows: the next event has the same previous event as this one. */
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

/** Creates a controller that aborts when `outer` aborts, until `release` is called. */
export function createChildController(outer: AbortSignal): { controller: AbortController; release(): void } {
  const controller = new AbortController();
  const follow = () => controller.abort(outer.reason);
  if (outer.aborted) follow();
  outer.addEventListener("abort", follow, { once: true });
  return { controller, release: () => outer.removeEventListener("abort", follow) };
}
