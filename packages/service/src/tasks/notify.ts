import { approveCommand, formOf, type Links, type WaitingTask } from "@nova/engine";
import { isMailAddress } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import type { Notified } from "../failures/notify.ts";
import { buildNotice, noMailReason, readSender } from "../notices/notices.ts";
import { once } from "../once/once.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Notice } from "../ports/mail.ts";

/** Maximum number of choices with a command in the mail. */
const maxCommands = 20;
/** Maximum characters of a form. */
const longestForm = 800;

/** Lines with the JSON schema that each choice requires of `answer.json`. */
function formLines(task: WaitingTask): string[] {
  const lines = task.choices.slice(0, maxCommands).flatMap((choice) => {
    const form = formOf(task, choice);
    return form ? [`${choice}: ${JSON.stringify(form).slice(0, longestForm)}`] : [];
  });
  return lines.length === 0 ? [] : ["", "answer.json has to fit the JSON schema of its choice:", "", ...lines];
}

/** Builds the mail that asks for an approval and explains how to answer. */
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
/** The time budget of `nova-notify`. */
const livesMs = 120_000;
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
