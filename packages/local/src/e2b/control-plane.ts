import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { z } from "zod";
import { Refusal, readJson, sendJson, sendNothing } from "./http.ts";
import type { NewSandbox, Sandbox, Sandboxes } from "./sandboxes.ts";

/** The SDK refuses sandboxes with a version below 0.1.0 and chooses its way of talking by it. */
const ENVD_VERSION = "0.6.4";

/** Seconds a sandbox lives if the caller says nothing: the first API's, and that of /v2. */
const DEFAULT_TIMEOUT = { v1: 15, v2: 300 };
const PAGE = 100;

const Timeout = z.number().int().min(0).optional();
const CreateBody = z.object({
  templateID: z.string(),
  timeout: Timeout,
  metadata: z.record(z.string(), z.string()).nullish(),
  envVars: z.record(z.string(), z.string()).nullish(),
  allow_internet_access: z.boolean().nullish(),
  network: z.record(z.string(), z.unknown()).nullish(),
  secure: z.boolean().nullish(),
  autoPause: z.boolean().nullish(),
});

type Call = {
  sandboxes: Sandboxes;
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
  id: string;
  v2: boolean;
};

const ROUTES: Record<string, (call: Call) => unknown> = {
  "POST sandboxes": create,
  "GET sandboxes": list,
  "GET sandboxes/:id": ({ sandboxes, response, id }) => sendJson(response, 200, detail(sandboxes.get(id))),
  "DELETE sandboxes/:id": async ({ sandboxes, response, id }) => {
    await sandboxes.kill(id);
    sendNothing(response);
  },
  "POST sandboxes/:id/connect": connect,
  "POST sandboxes/:id/resume": connect,
  "POST sandboxes/:id/timeout": setTimeout,
  "POST sandboxes/:id/pause": async ({ sandboxes, response, id }) => {
    await sandboxes.pause(id);
    sendNothing(response);
  },
};

/** Throws Refusals; the caller makes answers of them. */
export async function answerControlPlane(
  sandboxes: Sandboxes,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
) {
  const [, version, path = ""] = /^\/(?:(v2)\/)?(.*?)\/?$/.exec(url.pathname) ?? [];
  const [resource, id = "", ...rest] = path.split("/");
  const pattern = [resource, ...(id ? [":id"] : []), ...rest].join("/");
  const route = ROUTES[`${request.method} ${pattern}`];
  if (!route) throw new Refusal(404, `The local E2B server has no ${request.method} ${url.pathname}`);
  await route({ sandboxes, request, response, url, id, v2: version === "v2" });
}

async function create({ sandboxes, request, response, v2 }: Call) {
  const sandbox = await sandboxes.create(parseNewSandbox(await readJson(request), v2));
  sendJson(response, 201, summary(sandbox));
}

function parseNewSandbox(body: Record<string, unknown>, v2: boolean): NewSandbox {
  const wanted = parse(CreateBody, body);
  const secure = v2 || wanted.secure === true;
  const network = wanted.network ?? undefined;
  if (network?.allowPublicTraffic === false && !secure) {
    throw new Refusal(
      400,
      "You cannot create a sandbox without public access unless you enable secure envd access via 'secure' flag.",
    );
  }
  refuseBadRules(network);
  return {
    ...{ templateID: wanted.templateID, secure, network, autoPause: wanted.autoPause ?? false },
    ...{ metadata: wanted.metadata ?? {}, environment: wanted.envVars ?? {} },
    timeoutSeconds: positive(wanted.timeout ?? (v2 ? DEFAULT_TIMEOUT.v2 : DEFAULT_TIMEOUT.v1)),
    internet: wanted.allow_internet_access !== false && !deniesEverything(network),
  };
}

/** Finer rules (domains, single addresses) need a proxy that a laptop does not have; all or nothing is enforced. */
function deniesEverything(network: Record<string, unknown> | undefined): boolean {
  const denied = network?.denyOut;
  const allowed = network?.allowOut;
  const isAll = Array.isArray(denied) && denied.includes("0.0.0.0/0");
  return isAll && !(Array.isArray(allowed) && allowed.length > 0);
}

async function connect({ sandboxes, request, response, id, v2 }: Call) {
  const { timeout } = parse(z.object({ timeout: Timeout }), await readJson(request));
  const { sandbox, resumed } = await sandboxes.connect(id, timeout ?? (v2 ? DEFAULT_TIMEOUT.v2 : DEFAULT_TIMEOUT.v1));
  sendJson(response, resumed ? 201 : 200, summary(sandbox));
}

async function setTimeout({ sandboxes, request, response, id }: Call) {
  const { timeout } = parse(z.object({ timeout: z.number().int().min(0) }), await readJson(request));
  sandboxes.setTimeout(id, timeout);
  sendNothing(response);
}

/** Newest first; the token is the id of the last one that was shown. */
function list({ sandboxes, response, url, v2 }: Call) {
  const query = url.searchParams;
  const states = query.get("state")?.split(",") ?? (v2 ? ["running", "paused"] : ["running"]);
  const wanted = metadataOf(query.get("metadata"));
  const ascending = query.get("order") === "asc";
  const found = sandboxes
    .all()
    .filter((sandbox) => states.includes(sandbox.state))
    .filter((sandbox) => wanted.every(([key, value]) => sandbox.metadata[key] === value))
    .filter((sandbox) => !query.get("template") || sandbox.templateID === query.get("template"))
    .filter((sandbox) => sandbox.startedAt >= new Date(query.get("startedAfter") ?? 0));
  if (!ascending) found.reverse();
  const from = found.findIndex((sandbox) => sandbox.id === query.get("nextToken")) + 1;
  const size = Math.min(Math.max(1, Number(query.get("limit") ?? PAGE)), PAGE);
  const page = found.slice(from, v2 ? from + size : undefined);
  const last = page.at(-1);
  const more: Record<string, string> = last && from + page.length < found.length ? { "x-next-token": last.id } : {};
  sendJson(response, 200, page.map(listed), more);
}

/** The SDK encodes keys and values once more before they become a query string inside the query string. */
function metadataOf(query: string | null): [string, string][] {
  return [...new URLSearchParams(query ?? "")].map(([key, value]) => [
    decodeURIComponent(key),
    decodeURIComponent(value),
  ]);
}

function summary(sandbox: Sandbox) {
  return {
    ...{ sandboxID: sandbox.id, templateID: sandbox.templateID, clientID: "6532622b", envdVersion: ENVD_VERSION },
    ...(sandbox.envdAccessToken && { envdAccessToken: sandbox.envdAccessToken }),
    trafficAccessToken: sandbox.trafficAccessToken ?? null,
    domain: null,
  };
}

function listed(sandbox: Sandbox) {
  return {
    ...{ sandboxID: sandbox.id, templateID: sandbox.templateID, clientID: "6532622b", envdVersion: ENVD_VERSION },
    ...{ startedAt: sandbox.startedAt, endAt: sandbox.endAt, state: sandbox.state, metadata: sandbox.metadata },
    ...{ cpuCount: 2, memoryMB: 2048, diskSizeMB: 4096, volumeMounts: [] },
  };
}

function detail(sandbox: Sandbox) {
  return {
    ...listed(sandbox),
    ...(sandbox.envdAccessToken && { envdAccessToken: sandbox.envdAccessToken }),
    ...{ allowInternetAccess: sandbox.internet, network: sandbox.network, domain: null },
    lifecycle: { onTimeout: sandbox.autoPause ? "pause" : "kill", autoResume: false },
  };
}

function positive(seconds: number): number {
  if (seconds <= 0) throw new Refusal(400, "Timeout must be greater than 0");
  return seconds;
}

function parse<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Refusal(400, `Error when parsing request: ${issue?.path.join(".")}: ${issue?.message}`);
}

const allTraffic = "0.0.0.0/0";
const domain = /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i;
const Rules = z.object({ allowOut: z.array(z.string()).nullish(), denyOut: z.array(z.string()).nullish() });

/** Refuses rules for what goes out, in E2B's words: no ports, names to allow alone, and only with the rest denied. */
export function refuseBadRules(network: Record<string, unknown> | undefined): void {
  const rules = Rules.safeParse(network ?? {});
  if (!rules.success) throw new Refusal(400, `Error when parsing request: ${rules.error.issues[0]?.message}`);
  const [allowed, denied] = [rules.data.allowOut ?? [], rules.data.denyOut ?? []];
  for (const [list, entries] of Object.entries({ "allow out": allowed, "deny out": denied })) {
    const withPort = entries.find((entry) => /^[^:]+:\d+$/.test(entry));
    if (withPort === undefined) continue;
    const reason = "port-specific rules are not supported for egress";
    throw new Refusal(400, `invalid ${list} entry "${withPort}": ${reason}`);
  }
  const noRange = denied.find((entry) => !isRange(entry));
  if (noRange !== undefined) throw new Refusal(400, `invalid denied CIDR ${noRange}`);
  const names = allowed.filter((entry) => !isRange(entry));
  const noName = names.find((entry) => !domain.test(entry));
  if (noName !== undefined) throw new Refusal(400, `invalid allowed domain ${noName}`);
  if (names.length === 0 || denied.includes(allTraffic)) return;
  throw new Refusal(
    400,
    "When specifying allowed domains in allow out, you must include 'ALL_TRAFFIC' in deny out to block all other traffic.",
  );
}

function isRange(entry: string): boolean {
  const [address = "", bits, ...more] = entry.split("/");
  if (isIP(address) === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128));
}
