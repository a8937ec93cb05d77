import { openHttpApi } from "@nova/aws-local/http-api";
import type { WaitingTask } from "@nova/engine";
import { createApi } from "@nova/functions/api";
import { createKey, type Role, type ServicePorts } from "@nova/service";
import { monotonicFactory } from "ulid";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { routes } from "../../../../functions/api/routes/index.ts";
import { Problem } from "../../../../functions/api/schemas/values.ts";
import { openTestCloud, type TestCloud } from "../../../support/cloud.ts";

export interface Called {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body, checked against the schema of the route for this status. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its answer
  body: any;
}

export interface CallOptions {
  /** The text of an API key. If absent, the request has the admin's key. If null, the request has no key. */
  key?: string | null;
  /** The body, which is sent as JSON. A string is sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface TestApi {
  url: string;
  cloud: TestCloud;
  ports: ServicePorts;
  /** Internal errors that the API has thrown. The tests of a file fail if this list is not empty at the end. */
  failures: unknown[];
  call(request: string, options?: CallOptions): Promise<Called>;
  key(role: Role, client?: string): Promise<string>;
  /** Waits for the only task of a run. */
  taskOf(execution: string): Promise<WaitingTask>;
}

const ulid = monotonicFactory();

/** Opens the API over real HTTP for the tests of a file, with a separate test cloud. */
export function useApi(): TestApi {
  const api = { failures: [] } as unknown as TestApi;
  let close: () => Promise<void>;
  beforeAll(async () => {
    const cloud = await openTestCloud();
    const ports = { ...cloud.service };
    const handler = createApi(() => ports, { origins: ["https://console.example.com"] });
    const server = await openHttpApi({ handler, onFailure: (error) => api.failures.push(error) });
    const key: TestApi["key"] = async (role, client) => {
      const made = await createKey(ports, null, { ulid: ulid(), role, ...(client !== undefined && { client }) });
      return made.text as string;
    };
    const taskOf: TestApi["taskOf"] = (execution) =>
      vi.waitFor(async () => {
        const [task, ...others] = await ports.tasks.ofExecution(execution);
        if (!task || others.length > 0)
          throw new RangeError(`${execution} has ${others.length + (task ? 1 : 0)} tasks`);
        return task;
      }, 20_000);
    const admin = await key("admin");
    const call: TestApi["call"] = (request, options = {}) => callApi(server.url, admin, request, options);
    Object.assign(api, { url: server.url, cloud, ports, call, key, taskOf });
    close = async () => {
      await server.close();
      await cloud.close();
    };
  });
  afterAll(async () => {
    await close();
    expect(api.failures).toEqual([]);
  });
  return api;
}

/** Expects a response with this status and a field `detail` that equals or matches `sentence`. */
export async function expectRefusal(asked: Promise<Called>, status: number, sentence: string | RegExp): Promise<void> {
  const { status: found, body } = await asked;
  const detail = sentence instanceof RegExp ? expect.stringMatching(sentence) : sentence;
  expect([found, body.detail]).toEqual([status, detail]);
}

async function callApi(
  url: string,
  admin: string,
  request: string,
  { key = admin, body, headers = {} }: CallOptions,
): Promise<Called> {
  const [method = "GET", path = "/"] = request.split(" ");
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const called = {
    status: answer.status,
    headers: answer.headers,
    text,
    body: /json/.test(answer.headers.get("content-type") ?? "") && text !== "" ? JSON.parse(text) : undefined,
  };
  expectAsPromised(method, path, called);
  return called;
}

/** Checks that the OpenAPI document describes this response. */
function expectAsPromised(method: string, path: string, { status, headers, body }: Called): void {
  const type = headers.get("content-type");
  if (status >= 400 && type === "application/problem+json") {
    Problem.strict().parse(body);
    expect(body.status).toBe(status);
    return;
  }
  const [plain = ""] = path.split("?");
  const route = routes.find((one) => one.method === method && patternOf(one.path).test(plain));
  const promised = route?.answers[status];
  if (!route || !promised) throw new RangeError(`${method} ${path} answered ${status}, which nothing promises`);
  if (promised.schema) promised.schema.parse(body);
  else expect(body).toBeUndefined();
}

/** Returns a pattern that matches every path of a route. */
export function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}
