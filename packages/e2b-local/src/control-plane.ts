import { isIP } from "node:net";
import { z } from "zod";
import { Refusal } from "./http.ts";
import type { Sandbox, Sandboxes } from "./sandboxes.ts";

/**
 * The version of envd (E2B's agent) that sandboxes report. The SDK chooses its protocol by this version, and refuses
 * versions below 0.1.0.
 */
const ENVD_VERSION = "0.6.4";

/** The lifetime of a sandbox in seconds, if the client names none. */
const DEFAULT_TIMEOUT = 300;

const Timeout = z.number().int().min(0).default(DEFAULT_TIMEOUT);
const CreateBody = z.object({
  templateID: z.string(),
  timeout: Timeout,
  metadata: z.record(z.string(), z.string()).nullish(),
  envVars: z.record(z.string(), z.never("the local E2B has no variables of a sandbox")).nullish(),
  allow_internet_access: z.boolean().nullish(),
  network: z.record(z.string(), z.unknown()).nullish(),
  autoPause: z.literal(false, "the local E2B pauses no sandbox").nullish(),
});

const TimeoutBody = z.object({ timeout: Timeout });

/** A request to the control plane. `url` is its path and query. `readJson` reads the body. */
export type ControlRequest = {
  method: string | undefined;
  url: URL;
  readJson: () => Record<string, unknown> | Promise<Record<string, unknown>>;
};
type Call = ControlRequest & { sandboxes: Sandboxes; id: string };

/** The response has the status 204 and no body if `json` is absent. */
export type ControlAnswer = { status: 200 | 201; json: unknown } | { status: 204; json?: undefined };

const ROUTES: Record<string, (call: Call) => ControlAnswer | Promise<ControlAnswer>> = {
  "POST v2/sandboxes": create,
  "GET v2/sandboxes": list,
  "GET sandboxes/:id": ({ sandboxes, id }) => ({ status: 200, json: detail(sandboxes.get(id)) }),
  "DELETE sandboxes/:id": async ({ sandboxes, id }) => {
    await sandboxes.kill(id);
    return { status: 204 };
  },
  "POST v2/sandboxes/:id/connect": async ({ sandboxes, readJson, id }) => {
    const { timeout } = parse(TimeoutBody, await readJson());
    return { status: 200, json: summary(sandboxes.connect(id, timeout)) };
  },
  "POST sandboxes/:id/timeout": async ({ sandboxes, readJson, id }) => {
    const { timeout } = parse(TimeoutBody, await readJson());
    sandboxes.setTimeout(id, timeout);
    return { status: 204 };
  },
};

/**
 * Answers a request of the control plane, the API that creates and ends sandboxes. Throws `Refusal`, which the caller
 * sends as the response.
 */
export async function answerControlPlane(sandboxes: Sandboxes, asked: ControlRequest): Promise<ControlAnswer> {
  const { method, url } = asked;
  const [, version = "", id = "", action = ""] = /^\/(v2\/)?sandboxes(?:\/([^/]+))?(\/\w+)?$/.exec(url.pathname) ?? [];
  const route = ROUTES[`${method} ${version}sandboxes${id && "/:id"}${action}`];
  if (!route) throw new Refusal(404, `The local E2B server has no ${method} ${url.pathname}`);
  return route({ ...asked, sandboxes, id });
}

async function create({ sandboxes, readJson }: Call): Promise<ControlAnswer> {
  const { templateID, timeout, ...wanted } = parse(CreateBody, await readJson());
  if (timeout === 0) throw new Refusal(400, "Timeout must be greater than 0");
  const network = wanted.network ?? undefined;
  const { allowed, denied } = rulesIn(network);
  // Enforces only one rule: whether a sandbox has a network at all. Rules for domains or single addresses would need a
  // proxy.
  const isClosed = denied.includes(allTraffic) && allowed.length === 0;
  const internet = wanted.allow_internet_access !== false && !isClosed;
  const metadata = wanted.metadata ?? {};
  const sandbox = await sandboxes.create({ templateID, network, metadata, timeoutSeconds: timeout, internet });
  return { status: 201, json: summary(sandbox) };
}

/** Lists the sandboxes with all of the metadata in the query. The response is always a single page. */
function list({ sandboxes, url }: Call): ControlAnswer {
  const wanted = metadataOf(url.searchParams.get("metadata"));
  const found = sandboxes.all().filter(({ metadata }) => wanted.every(([key, value]) => metadata[key] === value));
  return { status: 200, json: found.map(listed) };
}

/** Parses the metadata in a query. It decodes twice, because the SDK encodes keys and values twice. */
function metadataOf(query: string | null): [string, string][] {
  return [...new URLSearchParams(query ?? "")].map(([key, value]) => [
    decodeURIComponent(key),
    decodeURIComponent(value),
  ]);
}

function summary(sandbox: Sandbox) {
  return {
    sandboxID: sandbox.id,
    templateID: sandbox.templateID,
    clientID: "6532622b",
    envdVersion: ENVD_VERSION,
    envdAccessToken: sandbox.envdAccessToken,
    trafficAccessToken: sandbox.trafficAccessToken ?? null,
    domain: null,
  };
}

function listed(sandbox: Sandbox) {
  return {
    sandboxID: sandbox.id,
    templateID: sandbox.templateID,
    clientID: "6532622b",
    envdVersion: ENVD_VERSION,
    startedAt: sandbox.startedAt,
    endAt: sandbox.endAt,
    state: "running",
    metadata: sandbox.metadata,
    cpuCount: 2,
    memoryMB: 2048,
    diskSizeMB: 4096,
    volumeMounts: [],
  };
}

function detail(sandbox: Sandbox) {
  const { envdAccessToken, internet, network } = sandbox;
  return { ...listed(sandbox), envdAccessToken, allowInternetAccess: internet, network, domain: null };
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

/**
 * Reads the rules for outgoing traffic. Throws E2B's error for a rule with a port, for a domain in `denyOut`, and for
 * domains in `allowOut` if `denyOut` does not deny all other traffic.
 */
function rulesIn(network: Record<string, unknown> | undefined): { allowed: string[]; denied: string[] } {
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
  if (names.length === 0 || denied.includes(allTraffic)) return { allowed, denied };
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
