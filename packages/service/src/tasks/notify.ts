import type { WaitingTask } from "@nova/engine";
import { isMailAddress } from "@nova/workflow";
import { unmailed } from "../failures/no-mailer.ts";
import type { Notified } from "../failures/notify.ts";
import { senderOf } from "../notices/sender-of.ts";
import { once } from "../once/once.ts";
import type { ServicePorts } from "../ports/index.ts";
import { approvalNotice } from "./notice.ts";

/** Of an approval that waits, as far as it is needed: the event's detail. */
export interface AskedTask {
  execution_id: string;
  task_id: string;
}

/** SES, "Recipients per message". */
const mostAddresses = 50;
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
  { execution_id: execution, task_id: id }: AskedTask,
): Promise<Notified> {
  const task = await ports.tasks.get({ execution, id });
  const to = task && waits(task, ports.clock.now()) ? addressesOf(task) : [];
  if (!task || to.length === 0) return { told: [] };
  const note = (problem?: string) => {
    const at = new Date(ports.clock.now()).toISOString();
    return ports.tasks.noteMail(task, { to, at, ...(problem !== undefined && { problem }) });
  };
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

function waits({ kind, status, expiresAt }: WaitingTask, nowMs: number): boolean {
  return kind === "approval" && status === "open" && Date.parse(expiresAt) > nowMs;
}

/** A name in `to` is for lists alone. */
function addressesOf({ to }: WaitingTask): string[] {
  return [...new Set(to.filter(isMailAddress))].slice(0, mostAddresses);
}
