import type { Execution, Links } from "@nova/engine";
import type { OnFailure } from "@nova/workflow";
import { fromOf, noMailer, noticeOf } from "../notices/notices.ts";
import { once } from "../once/once.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Notice } from "../ports/mail.ts";
import { readSecrets } from "../triggers/key.ts";
import { failureSignature, novaHeader } from "./signature.ts";

/** What is told of a failed run: nothing of its context, since mails and others' servers keep what they get. */
export type Failure = ReturnType<typeof failureOf>;

export function failureOf(record: Execution) {
  return {
    type: "execution.failed" as const,
    execution_id: record.id,
    workflow: record.workflowId,
    version: record.version,
    client: record.client,
    status: record.status,
    started_at: record.startedAt,
    ended_at: record.endedAt ?? null,
    error: record.error ?? null,
  };
}

export function failureNotice(failure: Failure, to: string[], links: Pick<Links, "toApi">): Notice {
  const { execution_id, workflow, version, client, status, started_at, error } = failure;
  const address = links.toApi(`/executions/${execution_id}`);
  const lines = [
    `Workflow ${workflow} (version ${version}) ${status === "failed" ? "has failed" : `was ${status}`}.`,
    "",
    `client     ${client}`,
    `execution  ${execution_id}`,
    `began      ${started_at}`,
    ...(error ? [`node       ${error.node}`, `error      ${error.class}: ${error.message}`] : []),
    "",
    `nova trace ${execution_id} shows every step.`,
    ...(address ? [`GET ${address} says the same to whoever has an API key.`] : []),
  ];
  return noticeOf({ execution: failure.execution_id, client }, to, `NOVA: ${workflow} ${status} (${client})`, lines);
}

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

/** Each hears once a day of a run, however often its event comes. Throws where one cannot be told, behind others. */
export async function notifyFailure(ports: ServicePorts, run: FailedRun): Promise<Notified> {
  const record = run.parent_execution_id === undefined ? await ports.executions.get(run.execution_id) : undefined;
  // Whoever cancels a run knows that it is over.
  if (!record || record.status === "cancelled") return { told: [] };
  const version = await ports.workflows.get(record.workflowId, record.version);
  const client = await ports.clients.get(record.client);
  const tellings = tellingsOf(ports, failureOf(record), fromOf(client), [
    { by: "workflow", ...version?.workflow.onFailure },
    { by: "client", ...client?.onFailure },
  ]);
  const mine = { principal: "on_failure", client: record.client, livesMs };
  const results = await Promise.allSettled(
    tellings.map(({ name, tell }) =>
      once(ports, { ...mine, key: `${record.id} ${name}`, asked: name }, async () => {
        await tell();
        return { told: name };
      }),
    ),
  );
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => String(error?.message)).join("; "));
  return { told: tellings.map(({ name }) => name) };
}

/** Who names the address: a client's choice is signed with the client's own credential and with no other. */
interface Wish extends OnFailure {
  by: "workflow" | "client";
}

/** One mail to all whom it concerns, and one request to each address and signer. */
function tellingsOf(ports: ServicePorts, failure: Failure, from: Pick<Notice, "from">, wishes: readonly Wish[]) {
  const { mailer = noMailer, links } = ports;
  const to = [...new Set(wishes.flatMap(({ mail }) => mail ?? []))];
  const mail = { name: "mail", tell: () => mailer.send({ ...failureNotice(failure, to, links), ...from }) };
  const posts = wishes.flatMap(({ by, webhook }) => (webhook ? [postOf(ports, failure, by, webhook)] : []));
  const apart = posts.filter(({ name }, index) => posts.findIndex((other) => other.name === name) === index);
  return to.length > 0 ? [mail, ...apart] : apart;
}

/** A client that names the workflow's address has a request of its own there: it must not take the place of the workflow's. */
function postOf(
  ports: ServicePorts,
  failure: Failure,
  by: Wish["by"],
  { url, secret }: NonNullable<OnFailure["webhook"]>,
) {
  const signer = by === "client" && secret !== undefined ? ` signed by client ${failure.client}` : "";
  return {
    name: `webhook ${url}${signer}`,
    async tell() {
      const body = JSON.stringify(failure);
      const workflow = by === "workflow" ? failure.workflow : null;
      const keys = secret === undefined ? [] : await readSecrets(ports, failure.client, workflow, secret);
      const signature = keys[0] !== undefined && failureSignature(keys[0], body, ports.clock.now());
      const headers = { "content-type": "application/json", ...(signature && { [novaHeader]: signature }) };
      await ports.poster.post({ url, body, headers });
    },
  };
}
