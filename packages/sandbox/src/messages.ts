import { type BlobRef, type Claim, type RunRequest, referenceKey, referencesIn } from "@nova/engine";
import { z } from "zod";
import { MalformedAnswer } from "./failures.ts";

/**
 * Messages between the adapter and the harness. An input is a header line and a body. An answer is a line on the
 * kernel's stdout: the nonce of the attach, a space, and JSON in ASCII (the SDK may cut a longer character in two).
 */

const Reference = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().nonnegative(),
  type: z.enum(["bytes", "text", "json"]),
});

/** Refuses lone surrogates, which UTF-8 cannot encode. */
const Key = z.string().refine((text) => text.isWellFormed(), "half a character");
/** The harness cuts messages and tracebacks far below this limit. */
const Message = shortText(100_000);

function shortText(maxCharacters: number) {
  return z
    .string()
    .max(maxCharacters)
    .transform((text) => text.toWellFormed());
}

const Success = z.object({
  status: z.literal("success"),
  set: z.array(z.tuple([Key, z.string()])),
  delete: z.array(Key),
  /** Blobs that `set` references. Small blobs include their content in base64. */
  blobs: z.array(Reference.extend({ data: z.string().optional() })),
});
const Failure = z.object({
  status: z.literal("error"),
  class: z.enum(["NodeFailed", "NodeTimeout"]),
  message: Message,
  traceback: Message,
  types: z.array(shortText(1000)).max(100).optional(),
  httpStatus: z.int().min(100).max(599).optional(),
  retryAfter: shortText(100).optional(),
});

/** The result that the code's process has written. Hostile code can write anything there. */
export const CodeAnswer = z.discriminatedUnion("status", [Success, Failure]);
export type CodeAnswer = z.infer<typeof CodeAnswer>;

/** A path relative to the harness's root. */
const answerPath = z.string().regex(/^(blobs|answers)\/[0-9a-f-]+$/);

/** The log of the code. The harness keeps only its last 64 KB. */
const logs = shortText(1 << 17);
/** The name of a node or task. */
const name = z.string().max(1000);

export const Need = z.object({
  type: z.literal("need"),
  blob: Reference.optional(),
  outputs: name.optional(),
  outputNames: z.literal(true).optional(),
  task: name.optional(),
  put: answerPath,
  refuse: answerPath,
});
export type Need = z.infer<typeof Need>;

/** A week, which is longer than any node may run. */
const maxDurationMs = 7 * 24 * 3_600_000;

export const Result = z.object({
  type: z.literal("result"),
  /**
   * The result is parsed later as `CodeAnswer`: an invalid result is the fault of the code, but an invalid answer is
   * the fault of the harness.
   */
  result: z.unknown(),
  logs,
  durationMs: z.number().nonnegative().max(maxDurationMs),
  unfit: z.literal(true).optional(),
  /** A sentence about isolation that the sandbox's system does not support. */
  weaker: z
    .string()
    .regex(/^[ -~]{1,1000}$/)
    .optional(),
});
export type Result = z.infer<typeof Result>;

export const Answer = z.discriminatedUnion("type", [
  Need,
  Result,
  z.object({
    type: z.literal("outcome"),
    path: z.string().regex(/^claims\/[\w/-]+$/),
    bytes: z.number().int().nonnegative(),
  }),
  z.object({ type: z.literal("tombstoned") }),
  /** The sandbox can never run the request, and the harness has made no claim for it. */
  z.object({ type: z.literal("unable"), message: Message }),
  z.object({ type: z.literal("stopped"), logs }),
  z.object({ type: z.literal("trouble"), message: Message }),
]);
export type Answer = z.infer<typeof Answer>;
/** The final answer of an attach. */
export type LastAnswer = Exclude<Answer, Need>;

/** Parses an answer of the harness. Throws `MalformedAnswer`, which is not retried. */
export function parseAnswer<T>(schema: z.ZodType<T>, text: string): T {
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
    throw new MalformedAnswer(misfit(parsed.error.issues));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new MalformedAnswer("it is no JSON");
  }
}

/** Describes the first problem of a message by its path. Leaves out the invalid value, because it may be any text. */
export function misfit([issue]: readonly { path?: PropertyKey[]; message?: string }[]): string {
  return `${(issue?.path ?? []).slice(0, 4).join(".").slice(0, 100)}: ${issue?.message?.slice(0, 200)}`;
}

/** Builds the input of a run. `ahead` lists blobs that the harness requests before the code does. */
export function runInput(request: RunRequest, nonce: string, ahead: BlobRef[]): string {
  const { execution, claim, code, fileName, timeoutSeconds, environment, network, near, isLast, calls } = request;
  const header = {
    format: 1,
    op: "run",
    nonce,
    execution,
    ...claim,
    timeoutSeconds,
    ahead,
    ...(network && { network }),
    ...(near && { near }),
    ...(isLast && { last: true }),
  };
  const context = request.context.map(({ key, json }) => [key, json]);
  const body = { code, fileName, environment, ...(network && { network }), ...(calls && { calls }), context };
  return `${JSON.stringify(header)}\n${JSON.stringify(body)}`;
}

export function stopInput(claim: Claim, nonce: string): string {
  return `${JSON.stringify({ format: 1, op: "stop", nonce, ...claim })}\n`;
}

/**
 * The longest line that the adapter reads. The harness sends at most 200,000 bytes inline, or 64 KB of logs with six
 * characters per escape.
 */
const maxLineCharacters = 1 << 20;
/**
 * Limit of the output of one attach, enough for thousands of needs (requests of the code for values). The SDK keeps all
 * output in memory.
 */
const maxCharacters = 32 << 20;

/**
 * Returns a function that takes chunks of stdout and passes each answer of the harness to `take`. Answers are lines
 * that start with the nonce; other lines are ignored. Throws `MalformedAnswer` for invalid answers and for too much
 * output.
 */
export function lineReader(nonce: string, take: (answer: Answer) => void): (chunk: string) => void {
  const mark = `${nonce} `;
  let [rest, received] = ["", 0];
  return (chunk) => {
    received += chunk.length;
    if (received > maxCharacters) throw new MalformedAnswer(`it says more than ${maxCharacters >> 20} MB`);
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) if (line.startsWith(mark)) take(parseAnswer(Answer, line.slice(mark.length)));
    if (rest.length <= maxLineCharacters) return;
    if (rest.startsWith(mark)) throw new MalformedAnswer("a line has no end");
    rest = rest.slice(0, mark.length); // These characters suffice to recognise that the line is not an answer.
  };
}

/**
 * Returns the blobs of the context keys that the code contains in quotes, because the code will most likely read them.
 */
export function namedBlobs({ context, code }: RunRequest): BlobRef[] {
  return context.flatMap(({ key, json }) => {
    if (!json.includes('"$blob"')) return [];
    const isNamed = code.includes(JSON.stringify(key)) || code.includes(`'${key}'`);
    return isNamed ? referencesIn(json) : [];
  });
}

/** Returns the keys of all references in the input. The blobs of these references are stored already. */
export function inputReferences({ context }: RunRequest): Set<string> {
  return new Set(context.flatMap(({ json }) => referencesIn(json)).map(referenceKey));
}
