import type { OnFailure } from "@nova/workflow";
import { fromOf } from "../notices/sender-of.ts";
import { once } from "../once/once.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Notice } from "../ports/notices.ts";
import { secretsOf } from "../triggers/secrets-of.ts";
import { type Failure, failureNotice, failureOf } from "./message.ts";
import { noMailer } from "./no-mailer.ts";
import { failureSignature, novaHeader } from "./signature.ts";

/** What `nova-notify` has for all that it tells; one who is slow to answer may take much of it. */
const livesMs = 120_000;

/** Of a run that has failed, as far as it is needed: the event's detail. */
export interface FailedRun {
  execution_id: string;
  /** It runs inside of another one, which says what came of it. */
  parent_execution_id?: string;
}

export interface Notified {
  /** `mail` or `webhook <address>`, with the client where its credential has signed. */
  told: string[];
}

/**
 * Tells those whom the workflow and the client name. The event may come often: each is told once a day at most. Where one
 * cannot be told the others are, and then it throws, so that EventBridge tries it again.
 */
export async function notifyFailure(ports: ServicePorts, run: FailedRun): Promise<Notified> {
  const record = run.parent_execution_id === undefined ? await ports.executions.get(run.execution_id) : undefined;
  // Whoever cancels a run knows that it is over.
  if (!record || record.status === "cancelled") return { told: [] };
  const version = await ports.workflows.get(record.workflowId, record.version);
  const client = await ports.clients.get(record.client);
  const tellings = tellingsOf(failureOf(record), fromOf(client), [
    { by: "workflow", ...version?.workflow.onFailure },
    { by: "client", ...client?.onFailure },
  ]);
  const mine = { principal: "on_failure", client: record.client, livesMs };
  const results = await Promise.allSettled(
    tellings.map(({ name, tell }) =>
      once(ports, { ...mine, key: `${record.id} ${name}`, asked: name }, async () => {
        await tell(ports);
        return { told: name };
      }),
    ),
  );
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => String(error?.message)).join("; "));
  return { told: tellings.map(({ name }) => name) };
}

interface Telling {
  name: string;
  tell(ports: ServicePorts): Promise<void>;
}

/** Who names the address: a client's choice is signed with the client's own credential and with no other. */
interface Wish extends OnFailure {
  by: "workflow" | "client";
}

/** One mail to all whom it concerns, and one request to each address and signer. */
function tellingsOf(failure: Failure, from: Pick<Notice, "from">, wishes: readonly Wish[]): Telling[] {
  const to = [...new Set(wishes.flatMap(({ mail }) => mail ?? []))];
  const posts = wishes.flatMap(({ by, webhook }) => (webhook ? [postOf(failure, by, webhook)] : []));
  return [
    ...(to.length > 0
      ? [
          {
            name: "mail",
            tell: ({ mailer = noMailer, links }: ServicePorts) =>
              mailer.send({ ...failureNotice(failure, to, links), ...from }),
          },
        ]
      : []),
    ...posts.filter(({ name }, index) => posts.findIndex((other) => other.name === name) === index),
  ];
}

/** A client that names the workflow's address has a request of its own there: it must not take the place of the workflow's. */
function postOf(failure: Failure, by: Wish["by"], { url, secret }: NonNullable<OnFailure["webhook"]>): Telling {
  const signer = by === "client" && secret !== undefined ? ` signed by client ${failure.client}` : "";
  return { name: `webhook ${url}${signer}`, tell: (ports) => post(ports, failure, by, { url, secret }) };
}

async function post(
  ports: ServicePorts,
  failure: Failure,
  by: Wish["by"],
  { url, secret }: { url: string; secret: string | undefined },
): Promise<void> {
  const body = JSON.stringify(failure);
  const workflow = by === "workflow" ? failure.workflow : null;
  const keys = secret === undefined ? [] : await secretsOf(ports, failure.client, workflow, secret);
  const signature = keys[0] !== undefined && failureSignature(keys[0], body, ports.clock.now());
  const headers = { "content-type": "application/json", ...(signature && { [novaHeader]: signature }) };
  await ports.poster.post({ url, body, headers });
}
