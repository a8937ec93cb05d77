import { dueAfter, parseExpression, type ScheduleTrigger } from "@nova/workflow";
import { recordDeed } from "../audit/audit.ts";
import { NotFound } from "../errors.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, pageFrom } from "../ports/page.ts";
import { canSeeTrigger, findActive, findWorkflow, pauseOf, setPaused } from "../workflows/find.ts";
import { expressionOf } from "./sync.ts";

export interface ShownSchedule {
  workflow: string;
  trigger: ScheduleTrigger;
  /** The times in EventBridge Scheduler's syntax. */
  expression: string;
  /** The next time in ISO 8601; null while the schedule is paused, and after its last time. */
  nextAt: string | null;
  /** ISO 8601: when the schedule or its workflow was paused; null if neither is paused. */
  pausedAt: string | null;
}

/** Maximum number of workflows that `listSchedules` reads for one page. A Lambda of the API has only some seconds. */
const maxWorkflows = 200;

/** A text that sorts after every trigger id. */
const afterAllTriggers = "~";

/**
 * Lists schedules that the caller may see, by workflow and id. A page may be shorter than its limit. Throws `NotFound`
 * if the workflow is unknown.
 */
export async function listSchedules(
  ports: ServicePorts,
  by: Principal,
  { limit, cursor = "", workflow }: PageQuery & { workflow?: string },
): Promise<Page<ShownSchedule>> {
  if (workflow !== undefined) await findWorkflow(ports, workflow);
  const [lastWorkflow = ""] = cursor.split("/");
  const found: { workflow: string; trigger: ScheduleTrigger }[] = [];
  let [looked, rest] = [0, {}];
  for await (const id of workflow === undefined ? idsFrom(ports, lastWorkflow) : [workflow]) {
    const here = (await schedulesOf(ports, by, id)).map((trigger) => ({ workflow: id, trigger }));
    found.push(...here.filter((one) => cursorOf(one) > cursor || id > lastWorkflow));
    looked += 1;
    if (looked === maxWorkflows) rest = { cursor: `${id}/${afterAllTriggers}` };
    if (found.length > limit || looked === maxWorkflows) break;
  }
  const { items, ...next } = pageFrom(found, limit, cursorOf);
  return { items: await Promise.all(items.map((one) => shownSchedule(ports, one))), ...rest, ...next };
}

function cursorOf({ workflow, trigger }: { workflow: string; trigger: ScheduleTrigger }): string {
  return `${workflow}/${trigger.id}`;
}

async function* idsFrom({ workflows }: Pick<ServicePorts, "workflows">, first: string): AsyncIterable<string> {
  if (first !== "") yield first;
  yield* workflows.ids(first);
}

async function schedulesOf(ports: ServicePorts, by: Principal, workflow: string): Promise<ScheduleTrigger[]> {
  const { version } = await findActive(ports, workflow);
  const triggers = (version?.workflow.triggers ?? []).filter((trigger) => trigger.type === "schedule");
  return triggers.filter((trigger) => canSeeTrigger(by, trigger)).sort((a, b) => (a.id < b.id ? -1 : 1));
}

async function shownSchedule(
  ports: ServicePorts,
  { workflow, trigger }: { workflow: string; trigger: ScheduleTrigger },
): Promise<ShownSchedule> {
  const state = await ports.workflowStates.get(workflow);
  const paused = pauseOf(state, trigger.id) ?? pauseOf(state);
  const nextMs = paused ? undefined : await nextTimeOf(ports, workflow, trigger);
  const nextAt = nextMs === undefined ? null : new Date(nextMs).toISOString();
  return { workflow, trigger, expression: expressionOf(trigger.when), nextAt, pausedAt: paused?.at ?? null };
}

/**
 * Returns the time of the next run that the schedule starts, in milliseconds since 1970. The times of a `rate(...)`
 * schedule depend on its first run, so the function asks EventBridge Scheduler for the time of that run.
 */
async function nextTimeOf(
  { schedules, clock }: ServicePorts,
  workflow: string,
  { id, when, timezone = "UTC" }: ScheduleTrigger,
): Promise<number | undefined> {
  const expression = parseExpression(expressionOf(when), timezone);
  const firstMs = when.kind === "every" ? await schedules.firstAt({ workflow, trigger: id }) : 0;
  return expression && firstMs !== undefined ? dueAfter(expression, firstMs, clock.now()) : undefined;
}

/**
 * Pauses or resumes a schedule. A pause stays if another version is published. The times of a paused schedule are
 * skipped. Throws `NotFound`.
 */
export async function setSchedulePaused(
  ports: ServicePorts,
  by: Principal,
  asked: { workflow: string; schedule: string; isPaused: boolean },
): Promise<ShownSchedule> {
  const { workflow, schedule: id, isPaused } = asked;
  await findWorkflow(ports, workflow);
  const trigger = (await schedulesOf(ports, by, workflow)).find((one) => one.id === id);
  if (!trigger) throw new NotFound(`workflow "${workflow}" has no schedule "${id}" - GET /schedules lists them`);
  if (await setPaused(ports, by, asked)) {
    const action = isPaused ? "schedule.paused" : "schedule.resumed";
    await recordDeed(ports, by, { action, client: trigger.client ?? null, subject: workflow, detail: { trigger: id } });
  }
  return shownSchedule(ports, { workflow, trigger });
}
