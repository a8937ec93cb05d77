/** Builds the event that API Gateway sends for a request such as `GET /workflows?limit=1`. */
export function httpEvent(request: string, headers: Record<string, string>, body?: object) {
  const [method = "", address = ""] = request.split(" ");
  const [rawPath = "", rawQueryString = ""] = address.split("?");
  const requestContext = { http: { method, path: rawPath, sourceIp: "192.0.2.1" } };
  const event = { version: "2.0", rawPath, rawQueryString, headers, requestContext, isBase64Encoded: false };
  return { ...event, ...(body && { body: JSON.stringify(body) }) };
}
