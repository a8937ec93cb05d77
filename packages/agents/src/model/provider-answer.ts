import { parsedOrNot } from "@nova/engine";
import { z } from "zod";
import { ProviderFailed, whereNodesRun } from "./model-error.ts";

/**
 * A part of an answer. The type of a part distinguishes the answer from thoughts. The names of the types differ between
 * servers.
 */
const Part = z.object({
  type: z.string().optional(),
  text: z.string().nullish(),
  refusal: z.string().nullish(),
});
type Part = z.output<typeof Part>;

/** The content of a message, in the forms of all known servers. */
export const Content = z.union([z.string(), z.array(z.union([z.string(), Part]))]).nullish();
export type Content = z.output<typeof Content>;

const textTypes = new Set(["text", "output_text", undefined]);
const thoughts = /think|reason|thought/i;

/**
 * Reads the text of a message. Parts that contain only thoughts are left out. @throws {ProviderFailed} for images and
 * audio.
 */
export function readContent(content: Content): { text: string; refusal: string | null } {
  if (typeof content === "string") return { text: content, refusal: null };
  const parts: Part[] = (content ?? []).map((part) => (typeof part === "string" ? { text: part } : part));
  const refusals = parts.flatMap(({ type, refusal, text }) => (type === "refusal" ? [refusal ?? text ?? ""] : []));
  const texts = parts.flatMap(({ type, text }) => {
    if (textTypes.has(type)) return [text ?? ""];
    if (type === "refusal" || thoughts.test(type ?? "")) return [];
    throw invalidAnswer(`a part of type "${(type ?? "").slice(0, 40)}"`);
  });
  return { text: texts.join(""), refusal: refusals.length > 0 ? refusals.join("") : null };
}

/** The arguments of a tool call, as JSON text or as an object. */
export const CallArguments = z
  .union([z.string(), z.record(z.string(), z.unknown()).transform((value) => JSON.stringify(value))])
  .nullish()
  .transform((text) => text ?? "{}");

/** The numbers of tokens that a server reports, in any form. `cost.ts` decides which of them are plausible. */
export const Counts = z.record(z.string(), z.unknown()).nullish().catch(null);

const Failed = z.object({
  error: z.union([
    z.string().transform((message) => ({ message, code: null })),
    z.object({ message: z.string().nullish(), code: z.unknown().optional() }),
  ]),
});

/**
 * Parses the body of a response with status 200. @throws {ProviderFailed} if the body is not valid; the SDK then does
 * not repeat the request.
 */
export async function readResponse<T>(response: Response, schema: z.ZodType<T>): Promise<{ answer: T; bytes: number }> {
  const text = await response.text();
  const body = parsedOrNot(text);
  if (body === undefined) throw invalidAnswer(otherThanJson(text));
  const failed = Failed.safeParse(body);
  if (failed.success) {
    const { message, code } = failed.data.error;
    throw new ProviderFailed(typeof code === "string" ? code : "failed", message || "the provider gives no reason");
  }
  const { data, error } = schema.safeParse(body);
  if (error) throw invalidAnswer(firstProblem(error));
  return { answer: data, bytes: Buffer.byteLength(text) };
}

function otherThanJson(text: string): string {
  const start = text.trimStart().slice(0, 20).toLowerCase();
  if (start === "") return "it is empty";
  if (/^(event|data|id|retry)?:/.test(start)) return "a stream of events, which was not asked for";
  return start.startsWith("<") ? "a web page" : "no JSON";
}

function firstProblem({ issues }: z.ZodError): string {
  const { path = [], message = "" } = issues[0] ?? {};
  return `${message} at ${path.length > 0 ? z.core.toDotPath(path) : "its top"}`.slice(0, 200);
}

function invalidAnswer(what: string): ProviderFailed {
  return new ProviderFailed(
    "no_answer",
    `what it sent is no answer of this API (${what}); see OPENAI_BASE_URL ${whereNodesRun}`,
  );
}

/** Limit of an answer, far above the size of any useful one. A larger answer would fill the memory of a Lambda. */
export const maxAnswerBytes = 8 * 1024 * 1024;

/** Error code of an answer that arrived but could not be read. */
export const unreadableAnswer = "nova_unreadable_answer";

/**
 * Fetches an answer with its whole body, so that the SDK's retries and timeout cover the body too. It follows no
 * redirect, because a redirect would send the prompt and the key to an address outside the configuration. The size
 * limit applies to the decompressed body.
 */
export async function fetchAnswer(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  const { status, statusText, headers } = response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      // The return leaves the loop, which cancels the download.
      if (bytes > maxAnswerBytes) return unreadable(`its answer is larger than ${maxAnswerBytes / 1024 / 1024} MB`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (!isDecompression(error)) throw error;
    return unreadable("its answer cannot be decompressed");
  }
  return new Response(bytes > 0 ? Buffer.concat(chunks) : null, { status, statusText, headers });
}

/** Returns a response that the SDK does not retry, because the provider has answered and must be paid. */
function unreadable(what: string): Response {
  const message = `${what}; see OPENAI_BASE_URL ${whereNodesRun}`;
  const headers = { "x-should-retry": "false" };
  return Response.json({ error: { message, code: unreadableAnswer } }, { status: 400, headers });
}

/** Returns true for zlib's error codes, such as `Z_DATA_ERROR` and Brotli's `ERR__ERROR_FORMAT_PADDING_1`. */
function isDecompression(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === "string" && /^(Z_(?!BUF)|ERR_(_|BROTLI|ZSTD)|ZSTD_)/.test(cause.code);
}
