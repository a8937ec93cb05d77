import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { AwsRequest } from "../access/requests.ts";
import type { Functions } from "./functions.ts";
import { bodyOf, listen } from "./http.ts";

export interface AwsProxy extends AsyncDisposable {
  requests: AwsRequest[];
}

interface Options {
  port: number;
  /** The endpoint of moto, for all requests except invocations of functions. */
  endpoint: string;
  functions: Functions;
}

/**
 * Opens a proxy that functions, state machines and rules use as if it were AWS. The proxy records each request. It then
 * forwards the request to moto, or invokes the function that the request names.
 */
export async function openProxy({ port, endpoint, functions }: Options): Promise<AwsProxy> {
  const requests: AwsRequest[] = [];
  const { hostname, port: upstream } = new URL(endpoint);
  const server = createServer(async (message, response) => {
    const body = await bodyOf(message);
    const asked = requestOf(message, body);
    requests.push(asked);
    if (asked.service === "lambda") return invoke(functions, message, body, response);
    const { method, url: path, headers } = message;
    const handedOn = send({ hostname, port: upstream, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    handedOn.on("error", () => response.destroy());
    handedOn.end(body);
  });
  return { requests, [Symbol.asyncDispose]: await listen(server, port) };
}

function requestOf({ method = "", url = "", headers }: IncomingMessage, body: Buffer): AwsRequest {
  const credential = /Credential=([^,]+)/.exec(headers.authorization ?? "")?.[1];
  const presigned = new URL(url, "http://aws").searchParams.get("X-Amz-Credential");
  const [who = "", , , service = ""] = (credential ?? presigned ?? "").split("/");
  const isData = service === "s3" && !url.includes("?delete");
  return {
    who,
    service,
    method,
    path: url,
    target: String(headers["x-amz-target"] ?? ""),
    source: String(headers["x-amz-copy-source"] ?? ""),
    body: isData ? "" : body.toString(),
  };
}

/** Answers a request to Lambda's API: `POST /2015-03-31/functions/<name or ARN>/invocations`. */
async function invoke(functions: Functions, message: IncomingMessage, body: Buffer, response: ServerResponse) {
  const [, given = ""] = /\/functions\/([^/]+)\/invocations/.exec(message.url ?? "") ?? [];
  const name = decodeURIComponent(given)
    .replace(/^arn:.*?:function:/, "")
    .replace(/:.*$/, "");
  if (!functions.has(name)) {
    response.writeHead(404, { "x-amzn-errortype": "ResourceNotFoundException" });
    return response.end(JSON.stringify({ Message: `Function not found: ${name}` }));
  }
  const event: unknown = JSON.parse(body.toString() || "{}");
  if (message.headers["x-amz-invocation-type"] === "Event") {
    void functions.invokeLater(name, event);
    return response.writeHead(202).end();
  }
  const outcome = await functions.invoke(name, event);
  if ("answer" in outcome) return response.end(JSON.stringify(outcome.answer));
  response.setHeader("x-amz-function-error", "Unhandled");
  return response.end(JSON.stringify(outcome.error));
}
