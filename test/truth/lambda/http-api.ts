import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { eventOf, gatewayAnswer, type HttpApiAnswer, send } from "../../../packages/aws-local/src/http-api/payload.ts";
import type { Functions } from "./functions.ts";
import { bodyOf, listen } from "./http.ts";

/** Opens an HTTP API on this machine. It passes each request to the deployed function, as API Gateway does. */
export async function openHttpApi(functions: Functions, port: number): Promise<AsyncDisposable> {
  const server = createServer(async (request, response) => {
    const event = eventOf(request, await bodyOf(request), randomUUID(), Date.now());
    const outcome = await functions.invoke("nova-api", event);
    send(
      response,
      "answer" in outcome ? (outcome.answer as HttpApiAnswer) : gatewayAnswer(500, "Internal Server Error"),
    );
  });
  return { [Symbol.asyncDispose]: await listen(server, port) };
}
