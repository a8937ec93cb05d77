import { approveCommand, formOf, type Links, type WaitingTask } from "@nova/engine";
import { isMailAddress } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import type { Notified } from "../failures/notify.ts";
import { noticeOf, senderOf, unmailed } from "../notices/notices.ts";
import { once } from "../once/once.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Notice } from "../ports/mail.ts";

/** Choices that have a command in the mail. */
const maxCommands = 20;
/** Characters of a form. */
const longestForm = 800;

/** What each choice wants in `answer.json`. */
function formLines(task: WaitingTask): string[] {
  const lines = task.choices.slice(0, maxCommands).flatMap((choice) => {
    const form = formOf(task, choice);
    return form ? [`${choice}: ${JSON.stringify(form).slice(0, longestForm)}`] : [];
  });
  return lines.length === 0 ? [] : ["", "answer.json has to fit the JSON schema of its choice:", "", ...lines];
}

/** What people get who are to answer: what is asked, and how to answer it. */
export function approvalNotice(task: WaitingTask, to: string[], links: Pick<Links, "toApi" | "toTask">): Notice {
  const { workflowId, version, client, execution, node, message, choices, expiresAt } = task;
  const commands = choices.slice(0, maxCommands).map((choice) => {
    const data = formOf(task, choice) ? " --data answer.json" : "";
    return `    ${approveCommand(task, [choice])}${data}`;
  });
  const page = links.toTask(task);
  const isPage = URL.canParse(page);
  const address = links.toApi(`/tasks/${task.id}`);
  const about = { execution, ...defined({ client }) };
  return noticeOf(about, to, `NOVA: ${workflowId} waits for an answer${client === undefined ? "" : ` (${client})`}`, [
    `Workflow ${workflowId} (version ${version}) waits for an answer until ${expiresAt}:`,
    "",
    // What others wrote is told from what NOVA says.
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
  ]);
}

/** SES, "Recipients per message". */
const maxAddresses = 50;
/** What `nova-notify` has for all that it tells. */
const livesMs = 120_000;
const longestProblem = 500;

/**
 * Mails an approval to those in `to` that are addresses, the first 50; the event may come often, and they get one mail.
 * What became of it stands in the task. Where it was not taken it throws, so that EventBridge tries it again; where no
 * mail goes out at all, nobody does.
 */
export async function notifyTask(
  ports: ServicePorts,
  { execution_id: execution, task_id: id }: { execution_id: string; task_id: string },
): Promise<Notified> {
  const task = await ports.tasks.get({ execution, id });
  if (task?.kind !== "approval" || task.status !== "open") return { told: [] };
  // A name in `to` is for lists alone.
  const to = [...new Set(task.to.filter(isMailAddress))].slice(0, maxAddresses);
  if (to.length === 0 || Date.parse(task.expiresAt) <= ports.clock.now()) return { told: [] };
  const note = (problem?: string) =>
    ports.tasks.noteMail(task, defined({ to, at: new Date(ports.clock.now()).toISOString(), problem }));
  const { mailer } = ports;
  if (!mailer) {
    await note(unmailed);
    return { told: [] };
  }
  const whose = { principal: "approval", client: task.client ?? null, livesMs };
  await once(ports, { ...whose, key: `${id} mail`, asked: "mail" }, async () => {
    try {
      const from = await senderOf(ports, task.client);
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
