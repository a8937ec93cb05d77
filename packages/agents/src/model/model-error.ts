import { maskCredentials, type ToolCall } from "@nova/engine";
import { noUsage, type Usage } from "./cost.ts";

/**
 * - `refused`: the model or the provider's filter refuses to answer;
 * - `cut_off`: the answer reached its token limit;
 * - `invalid`: the answer or the request violates its schema;
 * - `unclear`: two answers in a row were empty, ambiguous, or calls of unknown tools;
 * - `unavailable`: the provider failed or did not answer, after retries;
 * - `unknown_model`, `unauthorized`, `retired`: the configuration is wrong.
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

/** Usage and results of all requests of a call, successful or not. */
export interface Spent {
  usage: Usage;
  costUsd: number;
  /** The raw text of the last answer, or empty. */
  text: string;
  /** True if the provider's counts were impossible, so that `usage` is an estimate. */
  isEstimated: boolean;
  toolCalls: ToolCall[];
}

/** A failed model call, with its costs. The message is one sentence, which also says what the user can do. */
export class ModelError extends Error {
  override name = "ModelError";
  readonly reason: ModelErrorReason;
  readonly spent: Spent;
  /** The reason why an answer is unusable, and what the user can do about it. */
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

/** Thrown if a response with status 200 reports a failure, or is no valid answer. */
export class ProviderFailed extends Error {
  override name = "ProviderFailed";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The end of messages that name environment variables. It says where to set the variables, because another process than
 * the one that shows the message may run the nodes.
 */
export const whereNodesRun = "where nodes run (in the terminal of `nova dev`, if that is open)";
