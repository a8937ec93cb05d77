import type { HistoryEventType, HistoryEvent as SdkHistoryEvent } from "@aws-sdk/client-sfn";
import { runtimeFailure } from "./asl/failure.ts";

/** An event as GetExecutionHistory sends it: the SDK's shape, with the time in seconds since the epoch. */
export type HistoryEvent = Omit<SdkHistoryEvent, "timestamp" | "id" | "previousEventId"> & {
  timestamp: number;
  id: number;
  previousEventId: number;
};

/** What an execution was given and how it ended, as far as its history says it. */
export function dataIn(events: readonly HistoryEvent[]) {
  const last = events.at(-1);
  const output = last?.executionSucceededEventDetails?.output;
  const { error, cause } =
    last?.executionFailedEventDetails ??
    last?.executionAbortedEventDetails ??
    last?.executionTimedOutEventDetails ??
    {};
  return { input: events[0]?.executionStartedEventDetails?.input, output, error, cause };
}

/** Step Functions ends an execution that reaches this many events. */
export const HISTORY_LIMIT = 25_000;

/** Numbers the events of one execution and hands each on as it happens. */
export class History {
  readonly #now: () => number;
  readonly #write: (event: HistoryEvent) => void;
  #lastId = 0;

  constructor(now: () => number, write: (event: HistoryEvent) => void) {
    this.#now = now;
    this.#write = write;
  }

  /** @throws StateFailure that nothing catches when only the place for the execution's own end is left. */
  record(previousEventId: number, type: HistoryEventType, details?: object): number {
    if (this.#lastId >= HISTORY_LIMIT - 1) {
      throw runtimeFailure(`The execution reached the maximum number of history events (${HISTORY_LIMIT}).`);
    }
    return this.recordEnd(previousEventId, type, details);
  }

  /** The execution's last event always fits. */
  recordEnd(previousEventId: number, type: HistoryEventType, details?: object): number {
    const id = ++this.#lastId;
    this.#write({ timestamp: this.#now() / 1000, id, previousEventId, type, ...detailsOf(type, details) });
    return id;
  }
}

/** Details stand under the name of their event's type. Beside an input or output they say that it is whole. */
function detailsOf(type: string, details: object | undefined): object | undefined {
  if (!details) return undefined;
  const name = /State(Entered|Exited)$/.exec(type)?.[0] ?? type;
  const whole = { truncated: false };
  return {
    [`${name.charAt(0).toLowerCase()}${name.slice(1)}EventDetails`]: {
      ...details,
      ...("input" in details && { inputDetails: whole }),
      ...("output" in details && { outputDetails: whole }),
    },
  };
}
