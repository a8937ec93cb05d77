import type { HistoryEventType, HistoryEvent as SdkHistoryEvent } from "@aws-sdk/client-sfn";
import { runtimeFailure } from "./asl/failure.ts";

/** An event of an execution, as GetExecutionHistory sends it: the time is in seconds since the epoch. */
export type HistoryEvent = Omit<SdkHistoryEvent, "timestamp" | "id" | "previousEventId"> & {
  timestamp: number;
  id: number;
  previousEventId: number;
};

/** Returns the input of an execution, and its output or error, as far as its history has them. */
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

/** Step Functions' limit for the events of an execution, including its end. */
export const HISTORY_LIMIT = 25_000;

/** Gives each event of an execution its number and time, and passes it to `write`. */
export class History {
  readonly #now: () => number;
  readonly #write: (event: HistoryEvent) => void;
  #lastId = 0;

  constructor(now: () => number, write: (event: HistoryEvent) => void) {
    this.#now = now;
    this.#write = write;
  }

  /**
   * Records an event and returns its number.
   * @throws StateFailure that no Catch matches, if the limit leaves space only for the event that ends the execution
   */
  record(previousEventId: number, type: HistoryEventType, details?: object): number {
    if (this.#lastId >= HISTORY_LIMIT - 1) {
      throw runtimeFailure(`The execution reached the maximum number of history events (${HISTORY_LIMIT}).`);
    }
    return this.recordEnd(previousEventId, type, details);
  }

  /** Records the execution's last event, for which `record` has left space. */
  recordEnd(previousEventId: number, type: HistoryEventType, details?: object): number {
    const id = ++this.#lastId;
    this.#write({ timestamp: this.#now() / 1000, id, previousEventId, type, ...detailsOf(type, details) });
    return id;
  }
}

/**
 * Puts the details of an event into the field that its type has in the API. Adds that inputs and outputs are not
 * truncated.
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
