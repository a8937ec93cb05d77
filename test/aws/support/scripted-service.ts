import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";

export interface Asked {
  /** The requested operation: `AWSEvents.PutEvents` of a JSON-RPC service, `POST /schedules/a` of a REST service. */
  operation: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of any name and type
  body: any;
}

/** One expected request and the response to it. */
export interface Step {
  operation: string;
  status?: number;
  body?: object;
  /** The name of the error, if the response is an error. */
  error?: string;
}

/** An AWS service that answers the scripted steps in order, and refuses any other request. */
export interface ScriptedService {
  steps: Step[];
  asked: Asked[];
}

process.env.AWS_REGION = "us-east-1";
process.env.AWS_ACCESS_KEY_ID = "test-key";
process.env.AWS_SECRET_ACCESS_KEY = "test-secret";

/**
 * Starts a scripted service for the tests of a file. `variable` names the environment variable with which the SDK finds
 * the endpoint.
 */
export function useScriptedService(variable: string): ScriptedService {
  const service: ScriptedService = { steps: [], asked: [] };
  let server: Server;
  beforeAll(async () => {
    server = createServer(async (message, response) => {
      const body = await text(message);
      const operation = operationOf(message);
      service.asked.push({ operation, body: body === "" ? {} : JSON.parse(body) });
      const step = service.steps.shift();
      const isExpected = step?.operation === operation;
      const error = isExpected ? step.error : "UnexpectedCall";
      const status = isExpected ? (step.status ?? (error ? 400 : 200)) : 418;
      response.writeHead(status, { ...(error && { "x-amzn-errortype": error }) });
      response.end(
        JSON.stringify({ ...(error && { __type: error, message: `${error}: ${operation}` }), ...step?.body }),
      );
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    process.env[variable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    service.steps.length = 0;
    service.asked.length = 0;
  });
  afterEach(() => expect(service.steps).toEqual([]));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return service;
}

function operationOf({ headers, method, url }: IncomingMessage): string {
  return String(headers["x-amz-target"] ?? `${method} ${url?.split("?")[0]}`);
}
