import { type Answered, answerTask, type WaitingTask } from "@nova/engine";
import { checkData } from "@nova/workflow";
import { type Principal, reaches } from "../access/principal.ts";
import { recordDeed } from "../audit/record.ts";
import { NotFound, Refused } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, pageFrom } from "../ports/page.ts";

/** Approvals that wait and are within reach, oldest first: of other clients and of pages before nothing is read. */
export async function listTasks(
  { tasks, clock }: Pick<ServicePorts, "tasks" | "clock">,
  by: Principal,
  { limit, cursor = "" }: PageQuery,
): Promise<Page<WaitingTask>> {
  const now = new Date(clock.now()).toISOString();
  const [from = ""] = cursor.split("#");
  const since = from === "" ? undefined : from;
  const found: WaitingTask[] = [];
  for await (const task of by.client === null ? tasks.pending(since) : tasks.approvalsOf(by.client, since)) {
    const isOpen = task.kind === "approval" && task.status === "open" && task.expiresAt > now;
    if (!isOpen || positionOf(task) <= cursor) continue;
    found.push(task);
    if (found.length > limit) break;
  }
  return pageFrom(found, limit, positionOf);
}

function positionOf({ createdAt, id }: WaitingTask): string {
  return `${createdAt}#${id}`;
}

export interface TaskAnswer {
  choice: string;
  /** JSON text. */
  data?: string;
  /** Who says so; absent: the name of the key. */
  as?: string;
}

/** Throws `NotFound`; `Refused` where choice or data do not fit; `AnswerRefused` where it waits no longer. */
export async function answer(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { choice, data, as }: TaskAnswer,
): Promise<Answered> {
  const task = await ports.tasks.find(id);
  const client = task && (await ports.executions.get(task.execution))?.client;
  if (!task || client === undefined || !reaches(by, client)) {
    throw new NotFound(`there is no task "${id}" - GET /tasks lists those that wait`);
  }
  await refuseMisfits(task, choice, data);
  const who = as ?? (by.name || by.id);
  const answered = await answerTask(ports, {
    ...{ task: id, choice, by: who, from: `API key ${by.id}` },
    ...(data !== undefined && { data }),
  });
  await recordDeed(ports, by, { action: "task.answered", client, subject: id, detail: { choice, as: who } });
  return answered;
}

async function refuseMisfits({ kind, node, choices, form }: WaitingTask, choice: string, data?: string): Promise<void> {
  if (kind === "approval" && !choices.includes(choice)) {
    throw new Refused(`"${choice}" is no choice of "${node}" - choose ${choices.join(" or ")}`);
  }
  const problems = form ? await checkData(form, data ?? "{}") : [];
  if (problems.length > 0) throw new Refused(`the form of "${node}" refuses the data: ${problems.join("; ")}`);
}
