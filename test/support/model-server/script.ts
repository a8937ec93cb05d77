import type { ModelRequest } from "./model-request.ts";

/** The number of tokens that an answer reports; by default 1,000 for input and 100 for output. */
export interface ScriptedUsage {
  input?: number;
  cached?: number;
  cacheWrite?: number;
  output?: number;
}

export interface ScriptedCall {
  name: string;
  /** The arguments of the call. A string is sent as it is, so that a test can send invalid JSON. */
  arguments: Record<string, unknown> | string;
}

/** The answer of the model, or the failure that the provider reports in its place. */
export type Said =
  | { json: unknown }
  | { text: string }
  | { calls: ScriptedCall[]; text?: string }
  | { refusal: string }
  /** A text that ends early because of the token limit. */
  | { cutOff: string }
  /** A text that the provider's content filter stopped. */
  | { filtered: string }
  /** A failure that is reported with status 200, which only the Responses API does. */
  | { failed: { code: string; message: string } }
  | { vectors: number[][] };

/** A failure that prevents an answer of the model. */
export type Trouble =
  | { status: number; code?: string; message?: string; headers?: Record<string, string> }
  /** The connection drops `before` the first byte of the answer or `within` its body. */
  | { dropped: "before" | "within" }
  /** The server does not answer and waits until the client disconnects. */
  | { silent: true };

export type ModelAction = (Said & { usage?: ScriptedUsage; after?: Promise<unknown> }) | Trouble;

/** The values that a request must have. A field that is left out accepts any value. */
export interface Expected extends Partial<Pick<ModelRequest, "api" | "role" | "model" | "mayCall" | "answer">> {
  /** Texts that must occur in the instructions, the input or the results of tools. */
  says?: (string | RegExp)[];
  /** Texts that the request must not contain. */
  hides?: (string | RegExp)[];
}

export interface Exchange {
  expect?: Expected;
  answer: ModelAction;
}

/** Returns a failure with an error status, after which the SDK repeats the request within 1 ms. */
export function retriedAtOnce(status: number): Trouble {
  return { status, headers: { "retry-after-ms": "1" } };
}

/** Returns the first difference between a request and the expected values; undefined if there is none. */
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
