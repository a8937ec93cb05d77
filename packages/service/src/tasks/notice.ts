import { approveCommand, formOf, type Links, type WaitingTask } from "@nova/engine";
import { noticeOf } from "../notices/notice.ts";
import type { Notice } from "../ports/notices.ts";

/** Choices that have a command in the mail. */
const mostCommands = 20;
/** Characters of a form. */
const longestForm = 800;

/** What each choice wants in `answer.json`. */
function formLines(task: WaitingTask): string[] {
  const lines = task.choices.slice(0, mostCommands).flatMap((choice) => {
    const form = formOf(task, choice);
    return form ? [`${choice}: ${JSON.stringify(form).slice(0, longestForm)}`] : [];
  });
  return lines.length === 0 ? [] : ["", "answer.json has to fit the JSON schema of its choice:", "", ...lines];
}

/** What people get who are to answer: what is asked, and how to answer it. */
export function approvalNotice(task: WaitingTask, to: string[], links: Pick<Links, "toApi" | "toTask">): Notice {
  const { workflowId, version, client, execution, node, message, choices, expiresAt } = task;
  const commands = choices.slice(0, mostCommands).map((choice) => {
    const data = formOf(task, choice) ? " --data answer.json" : "";
    return `    ${approveCommand(task, [choice])}${data}`;
  });
  const page = links.toTask(task);
  const isPage = URL.canParse(page);
  const address = links.toApi(`/tasks/${task.id}`);
  return noticeOf(to, `NOVA: ${workflowId} waits for an answer${client === undefined ? "" : ` (${client})`}`, [
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
