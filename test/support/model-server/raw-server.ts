import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { ModelEnvironment } from "../../../packages/agents/src/model/create-models.ts";

/**
 * An answer: a body for status 200, which is sent as JSON unless it is a string, or a function that writes the
 * response.
 */
export type RawAnswer = object | string | ((response: ServerResponse, request: IncomingMessage) => unknown);

export interface RawServer extends AsyncDisposable {
  url: string;
  environment: ModelEnvironment & { OPENAI_API_KEY: string; OPENAI_BASE_URL: string };
  /** Request bodies, in the order of their arrival. */
  bodies: string[];
}

/**
 * Starts a server that sends these answers one by one, without checking whether they are valid. The last answer
 * repeats.
 */
export async function rawServer(...answers: RawAnswer[]): Promise<RawServer> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    const answer = answers[Math.min(bodies.length, answers.length) - 1] ?? "";
    if (typeof answer === "function") return answer(response, request);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    url,
    environment: { OPENAI_API_KEY: "key-of-the-test", OPENAI_BASE_URL: url },
    bodies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns an answer of Chat Completions with this content. */
export function chatAnswer(content: unknown, more: object = {}, usage: unknown = counted): object {
  const message = { role: "assistant", content, ...more };
  return { choices: [{ index: 0, finish_reason: "stop", message }], usage };
}

/** Returns an answer of the Responses API with this content. */
export function responsesAnswer(content: unknown, items: object[] = [], usage: unknown = counted): object {
  const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", content };
  return { object: "response", status: "completed", output: [...items, message], usage };
}

const counted = { prompt_tokens: 10, completion_tokens: 5, input_tokens: 10, output_tokens: 5 };
