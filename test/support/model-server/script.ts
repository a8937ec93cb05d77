import type { ModelRequest } from "./model-request.ts";

/** Tokens that an answer reports; 1,000 in and 100 out unless it says otherwise. */
export interface ScriptedUsage {
  input?: number;
  cached?: number;
  cacheWrite?: number;
  output?: number;
}

export interface ScriptedCall {
  name: string;
  /** Text stands as it is: also for arguments that are no JSON. */
  arguments: Record<string, unknown> | string;
}

/** What the model says, as the provider would report it. */
export type Said =
  | { json: unknown }
  | { text: string }
  | { calls: ScriptedCall[]; text?: string }
  | { refusal: string }
  /** The text up to the limit of tokens. */
  | { cutOff: string }
  /** Stopped by the provider's content filter. */
  | { filtered: string }
  /** Status 200 around a failure; the Responses API alone has it. */
  | { failed: { code: string; message: string } }
  | { vectors: number[][] };

/** What goes wrong before the model says anything. */
export type Trouble =
  | { status: number; code?: string; message?: string; headers?: Record<string, string> }
  /** `before` the first byte of an answer, or `within` its body. */
  | { dropped: "before" | "within" }
  /** Never answers; ends when the client goes. */
  | { silent: true };

export type ModelAction = (Said & { usage?: ScriptedUsage; after?: Promise<unknown> }) | Trouble;

/** What a request has to be for its answer; whatever is left out may be anything. */
export interface Expected extends Partial<Pick<ModelRequest, "api" | "role" | "model" | "mayCall" | "answer">> {
  /** All of these are in instructions, input or results of tools. */
  says?: (string | RegExp)[];
  /** None of these is anywhere in the request. */
  hides?: (string | RegExp)[];
}

export interface Exchange {
  expect?: Expected;
  answer: ModelAction;
}

/** 429 or 500 that the SDK retries without waiting. */
export function retriedAtOnce(status: number): Trouble {
  return { status, headers: { "retry-after-ms": "1" } };
}

/** Why the request is not the expected one; undefined where it is. */
export function mismatch(expected: Expected, request: ModelRequest): string | undefined {
  const { says = [], hides = [], ...fields } = expected;
  for (const [name, value] of Object.entries(fields)) {
    const actual = request[name as keyof typeof fields];
    if (actual !== value) {
      return `${name} is ${JSON.stringify(actual)}, not ${JSON.stringify(value)}`;
    }
  }
  const said = [request.instructions, request.input, ...request.toolResults].join("\n");
  const missing = says.find((part) => !has(said, part));
  const shown = hides.find((part) => has(JSON.stringify(request.body), part));
  return missing ? `it does not say ${missing}` : shown ? `it says ${shown}` : undefined;
}

function has(text: string, part: string | RegExp): boolean {
  return typeof part === "string" ? text.includes(part) : part.test(text);
}
