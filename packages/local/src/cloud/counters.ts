import { LRUCache } from "lru-cache";

export type AwsService = "dynamodb" | "s3" | "states";

/** What one execution has cost so far, as `nova run --json` prints it. */
export interface Counters {
  aws_calls: Record<AwsService, number>;
  sandbox_calls: number;
  /** Bodies of what was put into S3 and DynamoDB. */
  bytes_stored: number;
}

/** Enough for every execution that somebody still looks at; older ones are forgotten first. */
const remembered = 10_000;

const executionId = /exec_[0-9A-HJKMNP-TV-Z]{26}/g;

/** Counts requests by the execution ids that occur in them; so no one has to be told who calls. */
export class CounterBook {
  readonly #byExecution = new LRUCache<string, Counters>({ max: remembered });

  of(execution: string): Counters {
    return this.#byExecution.get(execution) ?? nothing();
  }

  /** `text` is everything of a request that may name an execution: its path, its headers, its JSON. */
  countAws(service: AwsService, text: string, bytesStored: number): void {
    for (const counters of this.#named(text)) {
      counters.aws_calls[service] += 1;
      counters.bytes_stored += bytesStored;
    }
  }

  countSandbox(text: string): void {
    for (const counters of this.#named(text)) counters.sandbox_calls += 1;
  }

  #named(text: string): Counters[] {
    return [...new Set(text.match(executionId))].map((execution) => this.#open(execution));
  }

  #open(execution: string): Counters {
    const counters = this.#byExecution.get(execution) ?? nothing();
    this.#byExecution.set(execution, counters);
    return counters;
  }
}

function nothing(): Counters {
  return { aws_calls: { dynamodb: 0, s3: 0, states: 0 }, sandbox_calls: 0, bytes_stored: 0 };
}
