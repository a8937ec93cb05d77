import { NovaError } from "@nova/engine";
import {
  defined,
  type Finding,
  finding,
  type ScheduleTrigger,
  type Trigger,
  type TriggerType,
  type Workflow,
} from "@nova/workflow";
import { reaches } from "../access/authenticate.ts";
import { Conflict } from "../errors.ts";
import { defaultClient } from "../ports/clients.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { canSeeTrigger } from "../workflows/find.ts";

/**
 * Sets up triggers, first those whose key another workflow may have. Throws `Conflict` if another workflow has the key
 * of a trigger, and `Refused` for an invalid trigger. After an error, some triggers may already be set up.
 */
export async function putTriggers(ports: ServicePorts, workflowId: string, triggers: readonly Trigger[] = []) {
  // The key of a contested trigger contains no workflow id, so two workflows can want the same key.
  const contested = triggers.filter((trigger) => triggerKey("a", trigger) === triggerKey("b", trigger));
  for (const trigger of contested) await put(ports, workflowId, trigger);
  for (const trigger of triggers) if (!contested.includes(trigger)) await put(ports, workflowId, trigger);
}

/** Removes triggers, except those whose key, schedule or rule belongs to a trigger of `staying`. */
export async function removeTriggers(
  ports: ServicePorts,
  workflowId: string,
  triggers: readonly Trigger[] = [],
  staying: readonly Trigger[] = [],
): Promise<void> {
  const keys = new Set(staying.map((one) => triggerKey(workflowId, one)));
  const places = new Set(staying.map(externalName));
  for (const trigger of triggers) {
    const key = triggerKey(workflowId, trigger);
    if (!places.has(externalName(trigger))) await triggerKindOf(trigger.type).remove(ports, workflowId, trigger);
    if (!keys.has(key)) await ports.triggers.remove({ key, workflowId });
  }
}

/** Returns whether setting up `one` replaces the record, the schedule or the rule of `other`. */
export function replacesTrigger(one: Trigger, other: Trigger): boolean {
  return triggerKey("", one) === triggerKey("", other) || externalName(one) === externalName(other);
}

function externalName(trigger: Trigger): string {
  return triggerKindOf(trigger.type).externalName(trigger);
}

async function put(ports: ServicePorts, workflowId: string, trigger: Trigger): Promise<void> {
  const key = triggerKey(workflowId, trigger);
  if (!(await ports.triggers.put({ format: 1, key, workflowId, trigger }))) {
    // The API keys of every client can read this message as the reason why a version failed, so it does not name the
    // other workflow.
    const what = trigger.type === "mail" ? "the address of a mail trigger" : "the id of a webhook";
    const wayOut = "validate it with a key for all clients, which says which, and choose another one";
    throw new Conflict(`another workflow has ${what} in this one - ${wayOut}`);
  }
  await triggerKindOf(trigger.type).put(ports, workflowId, trigger);
}

/**
 * Sets up and removes what one kind of trigger needs outside NOVA's table: a schedule, a rule, or nothing. Both calls
 * can be repeated.
 */
export interface TriggerKind<T extends Trigger = Trigger> {
  put(ports: ServicePorts, workflowId: string, trigger: T): Promise<void>;
  remove(ports: ServicePorts, workflowId: string, trigger: T): Promise<void>;
  /**
   * Returns the name of the trigger's schedule or rule. If two triggers of a workflow have the same name, the later
   * trigger replaces the earlier trigger.
   */
  externalName(trigger: T): string;
}

export function expressionOf(when: ScheduleTrigger["when"]): string {
  if (when.kind === "cron") return `cron(${when.cron})`;
  return when.kind === "every" ? rateOf(when.everySeconds) : `at(${when.at})`;
}

const units = [
  ["day", 24 * 60 * 60],
  ["hour", 60 * 60],
  ["minute", 60],
] as const;

/** Returns the rate expression of a period. EventBridge Scheduler counts whole minutes, hours and days. */
export function rateOf(seconds: number): string {
  const [unit, size] = units.find(([, each]) => seconds % each === 0) ?? units[2];
  const count = Math.ceil(seconds / size);
  return `rate(${count} ${unit}${count === 1 ? "" : "s"})`;
}

/** A kind of trigger that needs no schedule and no rule. */
const foundInTable: TriggerKind = {
  put: async () => undefined,
  remove: async () => undefined,
  externalName: ({ type, id }) => `${type}/${id}`,
};

/**
 * The common parts of schedules that fire and schedules that poll a mailbox. Both have the same external names, so one
 * can replace the other.
 */
const scheduled: Omit<TriggerKind, "put"> = {
  remove: ({ schedules }, workflow, { id }) => schedules.remove({ workflow, trigger: id }),
  externalName: ({ id }) => `schedule/${id}`,
};

const kinds: { [Type in TriggerType]: TriggerKind<Extract<Trigger, { type: Type }>> } = {
  mail: foundInTable,
  webhook: foundInTable,
  schedule: {
    ...scheduled,
    async put({ schedules, clock }, workflow, { id, when, timezone }) {
      // Delays the first time of a rate by one period. Without a first time, the schedule would fire immediately,
      // before its version is published.
      const firstMs = when.kind === "every" ? clock.now() + when.everySeconds * 1000 : undefined;
      const firstAt = firstMs === undefined ? undefined : new Date(firstMs).toISOString();
      await schedules.put(defined({ workflow, trigger: id, expression: expressionOf(when), timezone, firstAt }));
    },
  },
  /** The trigger of a mailbox has a schedule of its own, which polls the mailbox. */
  imap: {
    ...scheduled,
    put: ({ schedules }, workflow, { id, everySeconds }) =>
      schedules.put({ workflow, trigger: id, expression: rateOf(everySeconds), polls: true }),
  },
  event: {
    put: ({ eventRules }, workflow, { id, bus, pattern }) => eventRules.put({ workflow, trigger: id, bus, pattern }),
    remove: ({ eventRules }, workflow, { id, bus }) => eventRules.remove({ workflow, trigger: id, bus }),
    /** A rule belongs to a bus, so rules on two buses can coexist. */
    externalName: ({ id, bus }) => `rule/${bus}/${id}`,
  },
};

export function triggerKindOf(type: TriggerType): TriggerKind {
  return kinds[type] as TriggerKind;
}

/**
 * Returns the key of a live trigger: the address that a mail names, or the hook id that a request names. For any other
 * trigger, it consists of the workflow and the trigger id.
 */
export function triggerKey(workflowId: string, trigger: Pick<Trigger, "id" | "type"> & { address?: string }): string {
  if (trigger.address !== undefined) return mailKey(trigger.address);
  if (trigger.type === "webhook") return hookKey(trigger.id);
  return ownKey(workflowId, trigger.id);
}

export function mailKey(address: string): string {
  return `mail/${address}`;
}

export function hookKey(id: string): string {
  return `webhook/${id}`;
}

/**
 * Returns the key of a trigger that only NOVA's own schedules and rules name. Ids contain no slash, so each pair of a
 * workflow id and a trigger id has its own key.
 */
export function ownKey(workflowId: string, trigger: string): string {
  return `of/${workflowId}/${trigger}`;
}

/** Returns the current secret values of one credential, in the order of its fields. Throws the errors of `forNode`. */
export async function readSecrets(
  { credentials }: Pick<ServicePorts, "credentials">,
  client: string,
  workflow: string | null,
  name: string,
): Promise<string[]> {
  const { members, secrets } = await credentials.forNode(client, workflow, [name]);
  const known = new Set(secrets);
  return members
    .map(({ json }) => JSON.parse(json) as unknown)
    .filter((value): value is string => typeof value === "string" && known.has(value));
}

/**
 * Returns a handler for `catch` that returns `answer(reason)` if a credential is unusable until its owner fixes it, and
 * throws all other errors again.
 */
export function catchUnusable<T>(answer: (reason: NovaError) => T) {
  return (error: unknown): T => {
    if (error instanceof NovaError && error.name === "NodeFailed") return answer(error);
    throw error;
  };
}

/**
 * Returns a warning for each trigger whose client does not exist, is being deleted, or is out of the caller's reach.
 * The message is the same in all three cases.
 */
export async function findClientProblems(
  { clients }: Pick<ServicePorts, "clients">,
  by: Principal | null,
  { triggers = [] }: Pick<Workflow, "triggers">,
): Promise<Finding[]> {
  const findings = await Promise.all(
    triggers.map(async ({ client = defaultClient }, index) => {
      if (client === defaultClient) return [];
      const there = by === null || reaches(by, client) ? await clients.get(client) : undefined;
      if (there && !there.erasing) return [];
      const message = `there is no client "${client}", so nothing will start for it - make the client, or correct the slug`;
      return [finding("NOVA128", `$.triggers[${index}].client`, message)];
    }),
  );
  return findings.flat();
}

/**
 * Returns a finding for each mail address or webhook that another workflow has, if the caller may see the trigger of
 * that workflow.
 */
export async function findTriggerConflicts(
  { triggers }: Pick<ServicePorts, "triggers">,
  by: Principal | null,
  { id, triggers: wanted = [] }: Pick<Workflow, "id" | "triggers">,
): Promise<Finding[]> {
  const findings = await Promise.all(
    wanted.map(async (trigger, index) => {
      const live = await triggers.get(triggerKey(id, trigger));
      if (!live || live.workflowId === id || !canSeeTrigger(by, live.trigger)) return [];
      const [what, other] =
        trigger.type === "mail" ? [`mail address "${trigger.address}"`, "address"] : [`webhook "${trigger.id}"`, "id"];
      const has = `workflow "${live.workflowId}" has the ${what}`;
      const message = `${has} - choose another ${other}, or DELETE /workflows/${live.workflowId}`;
      return [finding("NOVA127", `$.triggers[${index}]`, message)];
    }),
  );
  return findings.flat();
}
