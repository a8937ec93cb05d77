import type { HistoryEventType, HistoryEvent as SdkHistoryEvent } from "@aws-sdk/client-sfn";
import { runtimeFailure } from "./asl/failure.ts";

/** An event in the shape of GetExecutionHistory and the SDK, with the time in seconds since the epoch. */
export type HistoryEvent = Omit<SdkHistoryEvent, "timestamp" | "id" | "previousEventId"> & {
  timestamp: number;
  id: number;
  previousEventId: number;
};

/** The input and the end of an execution, as far as its history contains them. */
export function inputAndEndOf(events: readonly HistoryEvent[]) {
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

/** Numbers the events of one execution and passes each to `write`. */
export class History {
  readonly #now: () => number;
  readonly #write: (event: HistoryEvent) => void;
  #lastId = 0;

  constructor(now: () => number, write: (event: HistoryEvent) => void) {
    this.#now = now;
    this.#write = write;
  }

  /** @throws StateFailure that no Catch sees if only the last event still fits */
  record(previousEventId: number, type: HistoryEventType, details?: object): number {
    if (this.#lastId >= HISTORY_LIMIT - 1) {
      throw runtimeFailure(`The execution reached the maximum number of history events (${HISTORY_LIMIT}).`);
    }
    return this.recordEnd(previousEventId, type, details);
  }

  /** Records the execution's last event, which always fits. */
  recordEnd(previousEventId: number, type: HistoryEventType, details?: object): number {
    const id = ++this.#lastId;
    this.#write({ timestamp: this.#now() / 1000, id, previousEventId, type, ...detailsOf(type, details) });
    return id;
  }
}

/**
 * The details, under the name of their event's type. For inputs and outputs they state that the text is not truncated.
 */
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
