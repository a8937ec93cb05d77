import { whereNodesRun } from "./model-error.ts";

/** Far above any useful answer. A larger one would fill the memory of a Lambda. */
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
      // Leaving the loop cancels the download.
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

/** True for zlib's error codes, such as `Z_DATA_ERROR` and Brotli's `ERR__ERROR_FORMAT_PADDING_1`. */
function isDecompression(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === "string" && /^(Z_(?!BUF)|ERR_(_|BROTLI|ZSTD)|ZSTD_)/.test(cause.code);
}
