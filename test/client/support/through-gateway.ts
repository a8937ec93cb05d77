import type { ApiHandler } from "@nova/functions/api";

const mayHaveNoBody = new Set([204, 304]);

/** A `fetch` that calls a handler as API Gateway's HTTP API does (payload format 2.0). */
export function throughGateway(handler: ApiHandler) {
  return async (request: Request): Promise<Response> => {
    const { pathname: rawPath, search } = new URL(request.url);
    const text = await request.text();
    const answer = await handler(
      {
        version: "2.0",
        rawPath,
        rawQueryString: search.slice(1),
        headers: Object.fromEntries(request.headers),
        requestContext: { http: { method: request.method, path: rawPath, sourceIp: "192.0.2.1" } },
        ...(text !== "" && { body: text }),
        isBase64Encoded: false,
      },
      { awsRequestId: "request-1", getRemainingTimeInMillis: () => 30_000 },
    );
    const { statusCode: status, body = "", isBase64Encoded = false } = answer;
    const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
    // API Gateway adds a type and a length if the function sets none, even to an empty body.
    const headers = { "content-type": "application/json", "content-length": String(bytes.length), ...answer.headers };
    return new Response(mayHaveNoBody.has(status) ? null : bytes, { status, headers });
  };
}
