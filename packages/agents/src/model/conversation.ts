import type { RequestUsage } from "./usage.ts";

/** A tool call as the model wrote it; `arguments` should be JSON and need not be. */
export interface RequestedCall {
  id: string;
  name: string;
  arguments: string;
}

/** One answer of the provider, whatever its API. */
export interface Reply {
  text: string;
  calls: RequestedCall[];
  refusal: string | null;
  ending: "complete" | "cut_off" | "filtered";
  usage: RequestUsage;
}

export interface SendOptions {
  signal: AbortSignal;
  headers: Record<string, string>;
}

/** The requests of one call and what came back, in the words of one API. Each request holds all that was said before. */
export interface Conversation<Body = unknown> {
  /** `mayCall`: whether the model may call tools now. */
  request(mayCall: boolean): Body;
  send(body: Body, options: SendOptions): Promise<Reply>;
  /** Answers the calls of the last reply, all of them. */
  answerCalls(results: { id: string; text: string }[]): void;
  /** Makes the next request ask for the answer again, held to its schema; null where every answer is. */
  askAgain: (() => void) | null;
}
