import type { Grant } from "../access/grants.ts";

export interface LambdaPlan {
  /** File below functions/ that exports `handler`. */
  file: string;
  timeoutSeconds: number;
  /** Also its share of a processor. */
  memoryMb: number;
  /** Invoked by rules and schedules, which do not wait: what fails is kept. */
  isAsynchronous?: boolean;
  /** Has the role of this function, which is of the same stack. */
  as?: string;
  may: readonly Grant[];
}
