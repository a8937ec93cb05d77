import { approveCommand, type Execution, formOf, type Links, type WaitingTask } from "@nova/engine";
import { isMailAddress, type OnFailure } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { failureSignature, novaHeader } from "../hooks/signature.ts";
import { buildNotice, noMailer, noMailReason, readSender, senderFields } from "../notices/notices.ts";
import { once } from "../once/once.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Notice } from "../ports/triggers.ts";
import { readSecrets } from "../triggers/sync.ts";

const maxCommands = 20;
const longestForm = 800;

/** Lines with the JSON schema that each choice requires of `answer.json`. */
function formLines(task: WaitingTask): string[] {
  const lines = task.choices.slice(0, maxCommands).flatMap((choice) => {
    const form = formOf(task, choice);
    return form ? [`${choice}: ${JSON.stringify(form).slice(0, longestForm)}`] : [];
  });
  return lines.length === 0 ? [] : ["", "answer.json has to fit the JSON schema of its choice:", "", ...lines];
}

function approvalNotice(task: WaitingTask, to: string[], links: Pick<Links, "toApi" | "toTask">): Notice {
  const { workflowId, version, client, execution, node, message, choices, expiresAt } = task;
  const commands = choices.slice(0, maxCommands).map((choice) => {
    const data = formOf(task, choice) ? " --data answer.json" : "";
    return `    ${approveCommand(task, [choice])}${data}`;
  });
  const page = links.toTask(task);
  const isPage = URL.canParse(page);
  const address = links.toApi(`/tasks/${task.id}`);
  const about = { execution, ...defined({ client }) };
  return buildNotice(
    about,
    to,
    `NOVA: ${workflowId} waits for an answer${client === undefined ? "" : ` (${client})`}`,
    [
      `Workflow ${workflowId} (version ${version}) waits for an answer until ${expiresAt}:`,
      "",
      // Quotes the message, so a reader can tell it from NOVA's own text.
      ...message.split(/\r\n?|\n/).map((line) => `> ${line}`),
      "",
      ...(client === undefined ? [] : [`client     ${client}`]),
      `execution  ${execution}`,
      `node       ${node}`,
      `choices    ${choices.join(", ")}`,
      "",
      ...(isPage ? [`Answer at ${page}`, "or, where NOVA's command line is:"] : ["Answer with NOVA's command line:"]),
      "",
      ...commands,
      ...(address ? ["", "or with an API key:", "", `    POST ${address} {"choice": ..., "data": ...}`] : []),
      ...formLines(task),
    ],
  );
}

/** SES quota "Recipients per message". */
const maxAddresses = 50;
const longestProblem = 500;

/**
 * Mails an approval once to the first 50 mail addresses in `to`, even if its event arrives again. The task records the
 * result. Throws if the mail was not accepted, so that EventBridge retries; without a mailer it does not throw.
 */
export async function notifyTask(
  ports: ServicePorts,
  { execution_id: execution, task_id: id }: { execution_id: string; task_id: string },
): Promise<Notified> {
  const task = await ports.tasks.get({ execution, id });
  if (task?.kind !== "approval" || task.status !== "open") return { told: [] };
  // Names in `to` that are not addresses only appear in task lists.
  const to = [...new Set(task.to.filter(isMailAddress))].slice(0, maxAddresses);
  if (to.length === 0 || Date.parse(task.expiresAt) <= ports.clock.now()) return { told: [] };
  const note = (problem?: string) =>
    ports.tasks.noteMail(task, defined({ to, at: new Date(ports.clock.now()).toISOString(), problem }));
  const { mailer } = ports;
  if (!mailer) {
    await note(noMailReason);
    return { told: [] };
  }
  const request = { principal: "approval", client: task.client, livesMs };
  await once(ports, { ...request, key: `${id} mail`, asked: "mail" }, async () => {
    try {
      const from = await readSender(ports, task.client);
      await mailer.send({ ...approvalNotice(task, to, ports.links), ...from });
    } catch (error) {
      await note(String(error instanceof Error ? error.message : error).slice(0, longestProblem));
      throw error;
    }
    return { sent: true };
  });
  await note();
  return { told: ["mail"] };
}

/** The details of a failed run, without its context, since mails and other servers keep what they receive. */
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

function failureNotice(failure: Failure, to: string[], links: Pick<Links, "toApi">): Notice {
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
    ...(address ? [`GET ${address} returns it with an API key.`] : []),
  ];
  return buildNotice({ execution: failure.execution_id, client }, to, `NOVA: ${workflow} ${status} (${client})`, lines);
}

/** The time budget of `nova-notify` for all recipients; a slow server may use much of it. */
const livesMs = 120_000;

/** The detail of the event `execution.failed`, as far as it is needed. */
export interface FailedRun {
  execution_id: string;
  /**
   * The run inside which this one runs. If it is present, no recipient is notified, since the outer run reports the
   * failure.
   */
  parent_execution_id?: string;
}

export interface Notified {
  /**
   * The notifications that succeeded: `mail` or `webhook <address>`, and after it the client if the client's own
   * credential signed the request.
   */
  told: string[];
}

/**
 * Notifies each recipient of a failed run. If the event arrives again within a day, no recipient is notified twice. If
 * a recipient cannot be notified, it throws after trying all others.
 */
export async function notifyFailure(ports: ServicePorts, run: FailedRun): Promise<Notified> {
  const record = run.parent_execution_id === undefined ? await ports.executions.get(run.execution_id) : undefined;
  // The user who cancels a run already knows.
  if (!record || record.status === "cancelled") return { told: [] };
  const version = await ports.workflows.get(record.workflowId, record.version);
  const client = await ports.clients.get(record.client);
  const notifications = listNotifications(ports, failureOf(record), senderFields(client), [
    { by: "workflow", ...version?.workflow.onFailure },
    { by: "client", ...client?.onFailure },
  ]);
  const request = { principal: "on_failure", client: record.client, livesMs };
  const results = await Promise.allSettled(
    notifications.map(({ name, send }) =>
      once(ports, { ...request, key: `${record.id} ${name}`, asked: name }, async () => {
        await send();
        return { told: name };
      }),
    ),
  );
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => String(error?.message)).join("; "));
  return { told: notifications.map(({ name }) => name) };
}

/**
 * The notifications that the workflow or the client asks for. Requests that the client asks for are signed only with
 * the client's own credential.
 */
interface Wish extends OnFailure {
  by: "workflow" | "client";
}

/** Lists the notifications of a failure: one mail to all addresses, and one request for each URL and signer. */
function listNotifications(ports: ServicePorts, failure: Failure, from: Pick<Notice, "from">, wishes: readonly Wish[]) {
  const { mailer = noMailer, links } = ports;
  const to = [...new Set(wishes.flatMap(({ mail }) => mail ?? []))];
  const mail = { name: "mail", send: () => mailer.send({ ...failureNotice(failure, to, links), ...from }) };
  const posts = wishes.flatMap(({ by, webhook }) => (webhook ? [postOf(ports, failure, by, webhook)] : []));
  const unique = posts.filter(({ name }, index) => posts.findIndex((other) => other.name === name) === index);
  return to.length > 0 ? [mail, ...unique] : unique;
}

/**
 * The notification by a request to a URL. If the workflow and the client name the same URL with different credentials,
 * the URL gets two requests: the client's request must not replace the workflow's.
 */
function postOf(
  ports: ServicePorts,
  failure: Failure,
  by: Wish["by"],
  { url, secret }: NonNullable<OnFailure["webhook"]>,
) {
  const signer = by === "client" && secret !== undefined ? ` signed by client ${failure.client}` : "";
  return {
    name: `webhook ${url}${signer}`,
    async send() {
      const body = JSON.stringify(failure);
      const workflow = by === "workflow" ? failure.workflow : null;
      const keys = secret === undefined ? [] : await readSecrets(ports, failure.client, workflow, secret);
      const signature = keys[0] !== undefined && failureSignature(keys[0], body, ports.clock.now());
      const headers = { "content-type": "application/json", ...(signature && { [novaHeader]: signature }) };
      await ports.poster.post({ url, body, headers });
    },
  };
}
