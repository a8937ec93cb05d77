import { serviceFunctions } from "@nova/functions";
import { createKey } from "@nova/service";
import { monotonicFactory } from "ulid";
import { openTestCloud, type TestCloud } from "./cloud.ts";
import { httpEvent } from "./http-event.ts";
import { type WatchedCalls, watchCalls } from "./watched-calls.ts";

const context = { awsRequestId: "request-1", getRemainingTimeInMillis: () => 60_000 };

interface Answer {
  statusCode: number;
  body?: string;
}

/** The functions of the service with a cloud. It records the AWS calls that the functions make. */
export interface DeployedService extends AsyncDisposable {
  cloud: TestCloud;
  calls: WatchedCalls;
  names: string[];
  /** Requests to the API, as `GET /path`. */
  asked: string[];
  /** Sends a request and returns the parsed answer. Throws if the status is no success. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its answer
  ask(request: string, body?: object, headers?: Record<string, string>): Promise<any>;
  /** Invokes a function directly, as EventBridge and Scheduler do. */
  invoke(name: keyof typeof serviceFunctions, event: object): Promise<unknown>;
}

/** Opens the service. Set `NOVA_QUEUES` before the call if the service shall do slow work over the event bus. */
export async function openDeployedService(): Promise<DeployedService> {
  const api = {
    handler: async (event: object, context: object): Promise<Answer> =>
      (await import("@nova/functions/api")).handler(event as never, context as never),
  };
  const functions = { ...serviceFunctions, "nova-api": api };
  const calls = watchCalls(functions);
  const cloud = await openTestCloud();
  const key = await createKey(cloud.service, null, { ulid: monotonicFactory()(), role: "admin" });
  const asked: string[] = [];
  return {
    cloud,
    calls,
    asked,
    names: Object.keys(functions),
    async ask(request, body, headers = {}) {
      asked.push(request.replace(/\?.*/, ""));
      const sent = { authorization: `Bearer ${key.text}`, "content-type": "application/json", ...headers };
      const { statusCode, body: text } = await api.handler(httpEvent(request, sent, body), context);
      if (statusCode >= 400) throw new RangeError(`${request} answered ${statusCode}: ${text}`);
      return text !== undefined && /^[{[]/.test(text) ? JSON.parse(text) : undefined;
    },
    invoke: (name, event) => functions[name].handler(event, context as never),
    async [Symbol.asyncDispose]() {
      await cloud.close();
      calls[Symbol.dispose]();
    },
  };
}
