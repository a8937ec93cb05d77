import type { BlobRef, Claim, RunRequest } from "@nova/engine";
import { z } from "zod";

/**
 * What the adapter and the harness tell each other. An input is a header line and a body; an answer is a line on the
 * kernel's stdout: the attach's nonce, a blank, JSON in ASCII (the SDK may cut a longer character in two).
 */

const Reference = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().nonnegative(),
  type: z.enum(["bytes", "text", "json"]),
});

const Success = z.object({
  status: z.literal("success"),
  set: z.array(z.tuple([z.string(), z.string()])),
  delete: z.array(z.string()),
  /** Everything that `set` refers to; small ones with their content, base64. */
  blobs: z.array(Reference.extend({ data: z.string().optional() })),
});
const Failure = z.object({
  status: z.literal("error"),
  class: z.enum(["NodeFailed", "NodeTimeout"]),
  message: z.string(),
  traceback: z.string(),
});

/** Paths are relative to the harness's root. */
const place = z.string().regex(/^(blobs|answers)\/[0-9a-f-]+$/);

export const Need = z.object({
  type: z.literal("need"),
  blob: Reference.optional(),
  outputs: z.string().optional(),
  outputNames: z.literal(true).optional(),
  put: place,
  refuse: place,
});
export type Need = z.infer<typeof Need>;

export const Result = z.object({
  type: z.literal("result"),
  result: z.discriminatedUnion("status", [Success, Failure]),
  logs: z.string(),
  durationMs: z.number(),
});
export type Result = z.infer<typeof Result>;

export const Answer = z.discriminatedUnion("type", [
  Need,
  Result,
  z.object({ type: z.literal("outcome"), path: z.string().regex(/^claims\/[\w/-]+$/), bytes: z.number() }),
  z.object({ type: z.literal("tombstoned") }),
  /** Nothing was claimed: this sandbox cannot run it as asked, now or later. */
  z.object({ type: z.literal("unable"), message: z.string() }),
  z.object({ type: z.literal("stopped"), logs: z.string() }),
  z.object({ type: z.literal("trouble"), message: z.string() }),
]);
export type Answer = z.infer<typeof Answer>;
/** An answer after which nothing comes. */
export type LastAnswer = Exclude<Answer, Need>;

/** `ahead`: blobs that the code names, wanted before it asks. */
export function runInput(request: RunRequest, nonce: string, ahead: BlobRef[]): string {
  const { claim, code, fileName, timeoutSeconds, environment, network } = request;
  const header = { format: 1, op: "run", nonce, ...claim, timeoutSeconds, ahead, ...(network && { network }) };
  const body = {
    code,
    fileName,
    environment,
    ...(network && { network }),
    context: request.context.map(({ key, json }) => [key, json]),
  };
  return `${JSON.stringify(header)}\n${JSON.stringify(body)}`;
}

export function stopInput(claim: Claim, nonce: string): string {
  return `${JSON.stringify({ format: 1, op: "stop", nonce, ...claim })}\n`;
}
