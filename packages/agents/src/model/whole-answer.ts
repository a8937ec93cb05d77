/**
 * Fetches an answer with its body: a connection that breaks within the body is then one that failed, which the SDK tries
 * again, and its timeout covers the body too.
 */
export async function fetchWhole(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const body = await response.arrayBuffer();
  const { status, statusText, headers } = response;
  return new Response(body.byteLength > 0 ? body : null, { status, statusText, headers });
}
