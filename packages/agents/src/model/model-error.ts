import { maskCredentials, type ToolCall } from "@nova/engine";
import { noUsage, type Usage } from "./cost.ts";

/**
 * - `refused`: the model, or the provider's filter, will not answer;
 * - `cut_off`: the answer reached its limit of tokens;
 * - `invalid`: the answer, or the request, does not follow its schema;
 * - `unclear`: the answer was empty, ambiguous or a call of a tool that is not on offer, and so was the next one;
 * - `unavailable`: limits, errors and silence of the provider, after retries;
 * - `unknown_model`, `unauthorized`, `retired`: a matter of configuration.
 */
export type ModelErrorReason =
  | "refused"
  | "cut_off"
  | "invalid"
  | "unclear"
  | "unavailable"
  | "unknown_model"
  | "unauthorized"
  | "retired";

/** What a call has spent and learned, over all its requests; also when it failed. */
export interface Spent {
  usage: Usage;
  costUsd: number;
  /** The raw text of the answer, as far as there was one. */
  text: string;
  /** Whether the provider's counts could not be true, so that `usage` is an estimate. */
  isEstimated: boolean;
  toolCalls: ToolCall[];
}

/**
 * A call of a model that came to no answer; the message is one sentence with the way out. What it cost is not lost with
 * it.
 */
export class ModelError extends Error {
  override name = "ModelError";
  readonly reason: ModelErrorReason;
  readonly spent: Spent;
  /** Of an answer that cannot be used: what is wrong with it, and the way out. */
  readonly unusable: Unusable | undefined;

  constructor(
    reason: ModelErrorReason,
    message: string,
    spent?: Partial<Spent>,
    { unusable, ...options }: ErrorOptions & { unusable?: Unusable } = {},
  ) {
    super(maskCredentials(message), options);
    this.reason = reason;
    this.spent = { usage: noUsage, costUsd: 0, text: "", isEstimated: false, toolCalls: [], ...spent };
    this.unusable = unusable;
  }
}

export interface Unusable {
  problem: string;
  advice: string;
}

/** An answer with status 200 in which the provider says that it failed. */
export class ProviderFailed extends Error {
  override name = "ProviderFailed";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Whose variables count, since the same sentence reaches people in other processes: "set OPENAI_API_KEY where ...". */
export const whereNodesRun = "where nodes run (in the terminal of `nova dev`, if that is open)";
