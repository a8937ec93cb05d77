import type { WebhookSignature, WebhookTrigger } from "@nova/workflow";
import { NotFound, Refused } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Delivery } from "../ports/triggers.ts";
import {
  describeTrigger,
  type FoundTrigger,
  findTrigger,
  recordRefusedDelivery,
  startFromTrigger,
} from "../triggers/start.ts";
import { catchUnusable, hookKey, readSecrets } from "../triggers/sync.ts";
import { dedupeIdOf, type HookBody, readHookBody } from "./hook-body.ts";
import { signatureProblem } from "./signature.ts";

export interface HookRequest {
  id: string;
  headers: Record<string, string>;
  body: Uint8Array;
  /** The decoded body if the request has a content-encoding; absent: the same as `body`. Signatures cover `body`. */
  content?: Uint8Array;
  from: string;
  /**
   * An error that the receiver found in the body. If it is present, `receiveHook` does not read the body: it records
   * this error and throws it.
   */
  flaw?: Error;
}

/**
 * Starts a run for a request to a webhook. Throws the same `NotFound` for an unknown hook and a wrong signature. Throws
 * `Refused` or `flaw` for any other fault of the request.
 */
export async function receiveHook(ports: ServicePorts, request: HookRequest) {
  const place = await findTrigger(ports, hookKey(request.id), "webhook");
  const problem = await checkSignature(ports, place, request);
  if (!place || problem !== undefined) {
    if (!place) await recordRefused(ports, undefined, request, "unknown", `no workflow has the hook "${request.id}"`);
    else if (problem !== undefined) await recordRefused(ports, place, request, "unsigned", problem);
    throw new NotFound(`there is no hook "${request.id}" for this request - its address or its signature is wrong`);
  }
  if (request.flaw) {
    await recordRefused(ports, place, request, "oversized", request.flaw.message);
    throw request.flaw;
  }
  const delivery = await startRun(ports, place, request);
  if (delivery.execution === null) throw new Refused(`hook "${request.id}": ${delivery.reason}`);
  return { execution: delivery.execution, waitSeconds: place.trigger.waitSeconds ?? 0 };
}

type HookPlace = FoundTrigger<WebhookTrigger>;

/** `checkSignature` checks this signature for an unknown hook, so that the answer takes as long as for a real hook. */
const unknownHookSignature: WebhookSignature = { header: "x-signature", secret: "", algorithm: "sha256" };

async function checkSignature(
  ports: ServicePorts,
  place: HookPlace | undefined,
  { headers, body }: HookRequest,
): Promise<string | undefined> {
  const signature = place ? place.trigger.signature : unknownHookSignature;
  if (!signature) return undefined;
  // Returns the reason instead of keys if the owner of the credential must fix the credential.
  const why = catchUnusable(({ message }) => message);
  const keys = place ? await readSecrets(ports, place.client, place.workflow, signature.secret).catch(why) : [""];
  if (typeof keys === "string") return keys;
  const value = headers[signature.header] ?? (place ? undefined : "00");
  return signatureProblem(signature, keys, { value, body, nowMs: ports.clock.now() });
}

async function startRun(ports: ServicePorts, place: HookPlace, request: HookRequest): Promise<Delivery> {
  const { id, headers, from } = request;
  const bytes = request.content ?? request.body;
  let body: HookBody;
  try {
    body = await readHookBody(headers["content-type"] ?? "", bytes);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await recordRefused(ports, place, request, "unreadable", error.message);
    throw new Refused(`hook "${id}": ${error.message}`);
  }
  const shown = Object.fromEntries(Object.entries(headers).filter(([name]) => !hiddenHeaders.has(name)));
  const dedupe = dedupeIdOf(place.trigger, { headers, body: bytes });
  const webhook = `{"id":${JSON.stringify(id)},"headers":${JSON.stringify(shown)},"body":${body.json}}`;
  const known = { ...describeTrigger(place), dedupe, from, about: headers["user-agent"] ?? "" };
  return startFromTrigger(ports, { ...known, context: `{"webhook":${webhook}}`, files: body.files });
}

/** Headers that carry a login. Nodes must not see them. */
const hiddenHeaders = new Set(["authorization", "cookie", "proxy-authorization", "x-api-key"]);

/**
 * Records a refusal. The same fault is recorded at most once a minute, since anyone can send any number of requests.
 */
function recordRefused(
  ports: ServicePorts,
  place: HookPlace | undefined,
  { headers, from }: HookRequest,
  fault: "unknown" | "unsigned" | "oversized" | "unreadable",
  reason: string,
): Promise<Delivery> {
  const minute = new Date(ports.clock.now()).toISOString().slice(0, 16);
  const nowhere = { type: "webhook", workflow: null, trigger: null, client: null } as const;
  const known = place ? describeTrigger(place) : nowhere;
  const about = headers["user-agent"] ?? "";
  return recordRefusedDelivery(ports, { ...known, dedupe: `${fault} ${minute}`, from, about }, reason);
}
