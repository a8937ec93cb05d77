import { whereNodesRun } from "./model-error.ts";

/** Far above every answer that a model writes; what is larger does no good, and would fill the memory of a Lambda. */
export const maxAnswerBytes = 8 * 1024 * 1024;

/** The code of an answer that came and could not be received as a whole. */
export const unreadableAnswer = "nova_unreadable_answer";

/**
 * Fetches an answer with its body: a connection that breaks within the body is then one that failed, which the SDK tries
 * again, and its timeout covers the body too. No redirect is followed: it would carry a prompt and a key to an address
 * outside the configuration. The size counts as the body arrives, after it is decompressed.
 */
export async function fetchAnswer(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  const { status, statusText, headers } = response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      // Leaving the loop cancels the rest of the body.
      if (bytes > maxAnswerBytes) return unreadable(`its answer is larger than ${maxAnswerBytes / 1024 / 1024} MB`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (!isDecompression(error)) throw error;
    return unreadable("its answer cannot be decompressed");
  }
  return new Response(bytes > 0 ? Buffer.concat(chunks) : null, { status, statusText, headers });
}

/** A response that makes the SDK stop: the provider has answered and is paid, so the request is not sent again. */
function unreadable(what: string): Response {
  const message = `${what}; see OPENAI_BASE_URL ${whereNodesRun}`;
  const headers = { "x-should-retry": "false" };
  return Response.json({ error: { message, code: unreadableAnswer } }, { status: 400, headers });
}

/** Codes of zlib, such as `Z_DATA_ERROR` and `ERR__ERROR_FORMAT_PADDING_1` of Brotli; broken connections have others. */
function isDecompression(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === "string" && /^(Z_(?!BUF)|ERR_(_|BROTLI|ZSTD)|ZSTD_)/.test(cause.code);
}
