import {
  approveCommand,
  type Execution,
  formOf,
  type Links,
  type VoteLink,
  voteLinks,
  type WaitingTask,
} from "@nova/engine";
import { defined, isMailAddress, type OnFailure } from "@nova/workflow";
import { failureSignature, novaHeader } from "../hooks/signature.ts";
import { buildNotice, noMailer, noMailReason, readSender, senderFields } from "../notices/notices.ts";
import { once } from "../once/once.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Notice } from "../ports/triggers.ts";
import { readSecrets } from "../triggers/sync.ts";

const maxCommands = 20;
const longestForm = 800;

/**
 * Returns the lines of a mail that show the JSON schema of `answer.json` for each choice. Returns no line if no choice
 * has a schema.
 */
function formLines(task: WaitingTask): string[] {
  const lines = task.choices.slice(0, maxCommands).flatMap((choice) => {
    const form = formOf(task, choice);
    return form ? [`${choice}: ${JSON.stringify(form).slice(0, longestForm)}`] : [];
  });
  return lines.length === 0 ? [] : ["", "answer.json has to fit the JSON schema of its choice:", "", ...lines];
}

/**
 * Builds the mail about an approval that waits. `ways` are the lines that say how to answer the approval. `isNext` is
 * true if the recipient has used a link and now gets the next link.
 */
function approvalNotice(task: WaitingTask, to: string[], ways: readonly string[], isNext = false): Notice {
  const { workflowId, version, client, execution, node, message, choices, expiresAt } = task;
  const news = isNext ? `your decision on ${workflowId} is stored` : `${workflowId} waits for an answer`;
  return buildNotice({ execution, client }, to, `NOVA: ${news} (${client})`, [
    `Workflow ${workflowId} (version ${version}) waits for an answer until ${expiresAt}:`,
    "",
    // Quotes the message, so a reader can tell it from NOVA's own text.
    ...message.split(/\r\n?|\n/).map((line) => `> ${line}`),
    "",
    `client     ${client}`,
    `execution  ${execution}`,
    `node       ${node}`,
    `choices    ${choices.join(", ")}`,
    "",
    ...ways,
  ]);
}

/**
 * Returns the lines of a mail that tell recipients with a key how to answer: on the page, with the command line, or
 * with the API.
 */
function waysWithKey(task: WaitingTask, links: Pick<Links, "toApi" | "toTask">): string[] {
  const commands = task.choices.slice(0, maxCommands).map((choice) => {
    const data = formOf(task, choice) ? " --data answer.json" : "";
    return `    ${approveCommand(task, [choice])}${data}`;
  });
  const page = links.toTask(task);
  const address = links.toApi(`/tasks/${task.id}`);
  return [
    ...(URL.canParse(page)
      ? [`Answer at ${page}`, "or, where NOVA's command line is:"]
      : ["Answer with NOVA's command line:"]),
    "",
    ...commands,
    ...(address ? ["", "or with an API key:", "", `    POST ${address} {"choice": ..., "data": ...}`] : []),
    ...formLines(task),
  ];
}

/** Returns the lines of a mail that tell its only recipient how to answer with the link. */
function waysWithLink({ mail, url }: VoteLink & { url: string }, isNext: boolean): string[] {
  const purpose = isNext
    ? ["NOVA has stored what you decided with your last link.", "To withdraw it, or to vote again, open this link:"]
    : ["Open this link, and press a button there to answer:"];
  return [
    ...purpose,
    "",
    `    ${url}`,
    "",
    `The link votes as ${mail}, once. Give it to nobody. Opening it answers nothing.`,
  ];
}

/** Maximum number of recipients of one mail: SES quota "Recipients per message". */
const maxAddresses = 50;
const longestProblem = 500;

/** The event of an approval that waits. */
export interface WaitingApproval {
  execution_id: string;
  task_id: string;
  /** 0 or absent: the approval has just started to wait. */
  reminder?: number | undefined;
  /** The mail address of the only person who gets a mail, with a personal link. Absent: all recipients get mails. */
  link_for?: string | undefined;
}

/**
 * Sends the notices of an approval: a mail to the first 50 mail addresses in `to`, a mail with a personal link to each
 * approver, and a request to each URL in `notify`. If the event arrives again, the function sends none of them twice. A
 * reminder goes to the addresses in `to`, and to approvers without a vote. Throws if a mail or a request was not
 * accepted, so that EventBridge retries. Without a mailer, it does not throw.
 */
export async function notifyTask(
  ports: ServicePorts,
  { execution_id: execution, task_id: id, reminder = 0, link_for: only }: WaitingApproval,
): Promise<Notified> {
  const task = await ports.tasks.get({ execution, id });
  if (task?.kind !== "approval" || task.status !== "open") return { told: [] };
  if (Date.parse(task.expiresAt) <= ports.clock.now()) return { told: [] };
  const isFirst = reminder === 0 && only === undefined;
  const [mailed, posted] = await allOrFirstError([
    mailTask(ports, task, reminder, only),
    isFirst ? postTask(ports, task) : { told: [] },
  ]);
  return { told: [...mailed.told, ...posted.told] };
}

/**
 * Waits until all promises in `work` have settled. Then it returns their results, or throws the first error in their
 * order.
 */
async function allOrFirstError<const Work extends readonly unknown[]>(work: Work) {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** A mail about an approval. `name` distinguishes it from the other mails about the same task. */
interface TaskNotice {
  name: string;
  notice: Notice;
}

/**
 * Builds the mails about an approval: a mail to each approver with a link, and one mail to the other addresses in `to`.
 * Names in `to` that are not addresses only appear in task lists.
 */
async function taskNotices(ports: ServicePorts, task: WaitingTask, only: string | undefined): Promise<TaskNotice[]> {
  const invited = await voteLinks(ports, task, only);
  const own = invited.flatMap(({ url, ...link }) => (url === undefined ? [] : [{ ...link, url }]));
  const withLinks = own.map((link) => {
    const isNext = only !== undefined && link.number > 0;
    const notice = approvalNotice(task, [link.mail], waysWithLink(link, isNext), isNext);
    return { name: `link ${link.number} ${link.mail}`, notice };
  });
  // If NOVA has no page, there are no links: these approvers get the lines for recipients with a key.
  const keyed = invited.flatMap(({ mail, url }) => (url === undefined ? [mail] : []));
  const named = only === undefined ? task.to.filter(isMailAddress) : [];
  const linked = new Set(own.map(({ mail }) => mail));
  const unique = new Map([...named, ...keyed].map((mail) => [mail.toLowerCase(), mail]));
  const others = Array.from(unique, ([lower, mail]) => (linked.has(lower) ? [] : [mail])).flat();
  if (others.length === 0) return withLinks;
  const notice = approvalNotice(task, others.slice(0, maxAddresses), waysWithKey(task, ports.links));
  return [{ name: only === undefined ? "mail" : `mail ${only}`, notice }, ...withLinks];
}

async function mailTask(ports: ServicePorts, task: WaitingTask, reminder: number, only: string | undefined) {
  const notices = await taskNotices(ports, task, only);
  if (notices.length === 0) return { told: [] };
  const to = [...new Set([...(task.mail?.to ?? []), ...notices.flatMap(({ notice }) => notice.to)])];
  const note = (problem?: string) =>
    ports.tasks.noteMail(task, defined({ to, at: new Date(ports.clock.now()).toISOString(), problem }));
  const { mailer } = ports;
  if (!mailer) {
    await note(noMailReason);
    return { told: [] };
  }
  const from = await readSender(ports, task.client);
  const errors: unknown[] = [];
  for (const { name, notice } of notices) {
    const request = { principal: "approval", client: task.client, livesMs };
    const key = reminder === 0 ? `${task.id} ${name}` : `${task.id} ${name} ${reminder}`;
    const subject = reminder === 0 ? notice.subject : `Reminder: ${notice.subject}`;
    const send = async () => {
      await mailer.send({ ...notice, subject, ...from });
      return { sent: true };
    };
    await once(ports, { ...request, key, asked: "mail" }, send).catch((error) => errors.push(error));
  }
  if (errors.length === 0) {
    await note();
    return { told: ["mail"] };
  }
  const reasons = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  await note(reasons.join("; ").slice(0, longestProblem));
  throw errors[0];
}

/**
 * Posts the question of an approval to each URL in `notify`. The request contains no token, so its receiver cannot
 * answer without a key.
 */
async function postTask(ports: ServicePorts, task: WaitingTask): Promise<Notified> {
  const urls = [...new Set(task.notify)];
  const { id: task_id, execution: execution_id, client, message, choices, expiresAt: expires_at } = task;
  const about = { type: "approval.waiting", task_id, execution_id, workflow: task.workflowId, version: task.version };
  const link = ports.links.toTask(task);
  const body = JSON.stringify({ ...about, client, node: task.node, message, choices, expires_at, link });
  const headers = { "content-type": "application/json" };
  const posts = urls.map((url) => {
    const request = { principal: "approval", client, livesMs, key: `${task_id} webhook ${url}`, asked: url };
    return once(ports, request, async () => {
      await ports.poster.post({ url, body, headers });
      return { told: url };
    });
  });
  await allOrFirstError(posts);
  return { told: urls.map((url) => `webhook ${url}`) };
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

/** The fields of the event `execution.failed` that `notifyFailure` needs. */
export interface FailedRun {
  execution_id: string;
  /**
   * The id of the outer run, if this run is inside another run. No recipient is notified then, because the outer run
   * reports the failure.
   */
  parent_execution_id?: string | undefined;
}

export interface Notified {
  /**
   * The names of the notifications that succeeded: `mail` or `webhook <URL>`. If the client's own credential signed the
   * request, the name ends with the client.
   */
  told: string[];
}

/**
 * Notifies each recipient of a failed run. If the event arrives again within a day, no recipient is notified twice. If
 * a recipient cannot be notified, the function tries all others and then throws.
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
 * The notifications for which the workflow or the client asks. If the client asks for a request, only the client's own
 * credential signs it.
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
 * Builds a notification that sends a request to a URL. If the workflow and the client name the same URL with different
 * credentials, the URL gets two requests: the client's request must not replace the workflow's.
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
