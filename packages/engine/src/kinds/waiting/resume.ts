import { slimText } from "../../context/offload.ts";
import type { Execution } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";
import type { ResumeLink, WaitingTask } from "../../ports/tasks.ts";
import { handOver } from "./answer.ts";
import { AnswerRefused, runIsOver } from "./refusals.ts";

/** The wait of a link is over, and takes nothing any more. */
export class WaitOver extends Error {
  override name = "WaitOver";
}

/**
 * The one call of a link, with JSON text: it is kept first, so that a wait that begins now finds it; then a wait that has
 * begun goes on with it. The same call again, whose answer was lost, does what is left to do. Answers whether the wait has
 * it already. Throws `AnswerRefused` for a second call, `WaitOver`.
 */
export async function callLink(ports: Ports, link: ResumeLink, record: Execution, text: string): Promise<boolean> {
  const body = await slimText(ports, record, text);
  const at = new Date(ports.clock.now()).toISOString();
  const task = await taskOf(ports, link);
  if (link.body === undefined) {
    if (!record.open) throw new WaitOver(runIsOver({ execution: record.id }).message);
    if (task) await demandPending(ports, task);
    // A sweeper looks after what is answered, and after the body with it, should this be the last that we do.
    if (task) await ports.tasks.move(task, ["open"], "answered", at);
    if (!(await ports.resumeLinks.call(link, body, at))) throw usedBefore(link);
  } else if (link.body !== body) throw usedBefore(link);
  const waiting = task ?? (await taskOf(ports, link));
  if (!waiting || isOver(waiting)) return waiting !== undefined;
  if (await handOver(ports, waiting, async () => body)) return true;
  throw waitIsOver(waiting);
}

/** What a call has left for a task, from before it began or from one that died: false where it is nothing. */
export async function takeCalled(ports: Ports, task: WaitingTask): Promise<boolean> {
  const { execution, link: id } = task;
  const link = id === undefined ? undefined : await ports.resumeLinks.get({ execution, id });
  if (link?.body === undefined) return false;
  const { body } = link;
  await handOver(ports, task, async () => body);
  return true;
}

async function taskOf({ tasks }: Ports, { execution, id }: ResumeLink): Promise<WaitingTask | undefined> {
  return (await tasks.ofExecution(execution)).find(({ link }) => link === id);
}

async function demandPending(ports: Ports, task: WaitingTask): Promise<void> {
  if (isOver(task) || Date.parse(task.expiresAt) <= ports.clock.now()) throw waitIsOver(task);
}

function isOver({ status }: WaitingTask): boolean {
  return status === "sent" || status === "expired";
}

function waitIsOver({ node, execution }: WaitingTask): WaitOver {
  return new WaitOver(`"${node}" waits no longer - nova trace ${execution} shows what followed`);
}

function usedBefore({ node }: ResumeLink): AnswerRefused {
  return new AnswerRefused(`the link to "${node}" was used before - it is good for one call`);
}
