import type { BlobRef, Claim, RunRequest } from "@nova/engine";
import { z } from "zod";
import { MalformedAnswer } from "./failures.ts";

/**
 * What the adapter and the harness tell each other. An input is a header line and a body; an answer is a line on the
 * kernel's stdout: the attach's nonce, a blank, JSON in ASCII (the SDK may cut a longer character in two).
 */

const Reference = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().nonnegative(),
  type: z.enum(["bytes", "text", "json"]),
});

/** Half a character has no UTF-8: no store could keep it. */
const Key = z.string().refine((text) => text.isWellFormed(), "half a character");
/** The harness keeps messages and tracebacks far below this. */
const Told = toldText(100_000);

function toldText(most: number) {
  const text = z.string().max(most);
  return text.transform((told) => told.toWellFormed());
}

const Success = z.object({
  status: z.literal("success"),
  set: z.array(z.tuple([Key, z.string()])),
  delete: z.array(Key),
  /** Everything that `set` refers to; small ones with their content, base64. */
  blobs: z.array(Reference.extend({ data: z.string().optional() })),
});
const Failure = z.object({
  status: z.literal("error"),
  class: z.enum(["NodeFailed", "NodeTimeout"]),
  message: Told,
  traceback: Told,
  types: z.array(toldText(1000)).max(100).optional(),
  httpStatus: z.int().min(100).max(599).optional(),
  retryAfter: toldText(100).optional(),
});

/** What the code's own process has left: whatever runs there can write anything. */
export const CodeAnswer = z.discriminatedUnion("status", [Success, Failure]);
export type CodeAnswer = z.infer<typeof CodeAnswer>;

/** Paths are relative to the harness's root. */
const place = z.string().regex(/^(blobs|answers)\/[0-9a-f-]+$/);

/** The harness keeps the last 64 KB. */
const logs = toldText(1 << 17);
/** A name of a node, and more. */
const name = z.string().max(1000);

export const Need = z.object({
  type: z.literal("need"),
  blob: Reference.optional(),
  outputs: name.optional(),
  outputNames: z.literal(true).optional(),
  task: name.optional(),
  put: place,
  refuse: place,
});
export type Need = z.infer<typeof Need>;

/** A week: longer than any node may run. */
const maxDurationMs = 7 * 24 * 3_600_000;

export const Result = z.object({
  type: z.literal("result"),
  /** See `CodeAnswer`: it is looked at apart, since one that is none fails the node and not the harness. */
  result: z.unknown(),
  logs,
  durationMs: z.number().nonnegative().max(maxDurationMs),
  unfit: z.literal(true).optional(),
  /** A sentence on the walls that the sandbox's system does not support. */
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
  /** Nothing was claimed: this sandbox cannot run it as asked, now or later. */
  z.object({ type: z.literal("unable"), message: Told }),
  z.object({ type: z.literal("stopped"), logs }),
  z.object({ type: z.literal("trouble"), message: Told }),
]);
export type Answer = z.infer<typeof Answer>;
/** An answer after which nothing comes. */
export type LastAnswer = Exclude<Answer, Need>;

/** Reads what the harness says. Throws `MalformedAnswer`: no later attach would hear better. */
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

/** Where the first problem is; what stands there may be anything, and is not repeated. */
export function misfit([issue]: readonly { path?: PropertyKey[]; message?: string }[]): string {
  return `${(issue?.path ?? []).slice(0, 4).join(".").slice(0, 100)}: ${issue?.message?.slice(0, 200)}`;
}

/** `ahead`: blobs that the code names, wanted before it asks. */
export function runInput(request: RunRequest, nonce: string, ahead: BlobRef[]): string {
  const { execution, claim, code, fileName, timeoutSeconds, environment, network, near, isLast } = request;
  const reach = { ...(network && { network }), ...(near && { near }) };
  const asked = { format: 1, op: "run", nonce, execution, ...claim, timeoutSeconds, ahead, ...reach };
  const header = { ...asked, ...(isLast && { last: true }) };
  const context = request.context.map(({ key, json }) => [key, json]);
  const body = { code, fileName, environment, ...(network && { network }), context };
  return `${JSON.stringify(header)}\n${JSON.stringify(body)}`;
}

export function stopInput(claim: Claim, nonce: string): string {
  return `${JSON.stringify({ format: 1, op: "stop", nonce, ...claim })}\n`;
}
