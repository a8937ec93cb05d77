import type {
  Attempt,
  AttemptStore,
  AuditRecord,
  Delivery,
  DeliveryQuery,
  DeliveryStore,
  EventRule,
  HandOver,
  LiveTrigger,
  Pauses,
  Publication,
  PublicationName,
  PublicationStore,
  Schedule,
  TriggerName,
  TriggerStore,
  UnsettledWorkflow,
  VersionPointers,
  WorkflowState,
  WorkflowStates,
} from "@nova/service";
import { idsBehind } from "../../support/ids-behind.ts";

/** Attempts in memory. The class has the same conditions for writes as the table. */
export class MemoryAttempts implements AttemptStore {
  readonly kept = new Map<string, Attempt>();

  async begin(attempt: Attempt, now: number): Promise<Attempt | undefined> {
    const there = this.kept.get(nameOf(attempt));
    if (there && there.expiresAt >= now / 1000) return there;
    this.kept.set(nameOf(attempt), attempt);
    return undefined;
  }

  async takeOver(name: Pick<Attempt, "principal" | "key">, since: string, now: string): Promise<boolean> {
    const there = this.kept.get(nameOf(name));
    if (there?.since !== since || there.made !== undefined) return false;
    this.kept.set(nameOf(name), { ...there, since: now });
    return true;
  }

  async finish(name: Pick<Attempt, "principal" | "key">, made: string): Promise<void> {
    this.#change(name, { made });
  }

  async release(name: Pick<Attempt, "principal" | "key">): Promise<void> {
    this.#change(name, { since: new Date(0).toISOString() });
  }

  #change(name: Pick<Attempt, "principal" | "key">, changes: Partial<Attempt>): void {
    const there = this.kept.get(nameOf(name));
    if (there) this.kept.set(nameOf(name), { ...there, ...changes });
  }
}

function nameOf({ principal, key }: Pick<Attempt, "principal" | "key">): string {
  return `${principal} ${key}`;
}

/** Publications in memory. The class has the same conditions for writes as the table. */
export class MemoryPublications implements PublicationStore {
  readonly kept = new Map<string, Publication>();

  async create(publication: Publication): Promise<boolean> {
    const isNew = !this.kept.has(keyOf(publication));
    if (isNew) this.kept.set(keyOf(publication), publication);
    return isNew;
  }

  async get(name: PublicationName): Promise<Publication | undefined> {
    return this.kept.get(keyOf(name));
  }

  async latest(workflowId: string): Promise<Publication | undefined> {
    const own = [...this.kept.values()].filter((one) => one.workflowId === workflowId);
    return own.sort((a, b) => b.version - a.version)[0];
  }

  async recordHandOver(name: PublicationName, handedOver: HandOver): Promise<void> {
    const there = this.kept.get(keyOf(name));
    if (there?.status === "publishing") this.kept.set(keyOf(name), { ...there, handedOver });
  }

  async settle(name: PublicationName, state: Parameters<PublicationStore["settle"]>[1]): Promise<void> {
    const there = this.kept.get(keyOf(name));
    if (there?.status === "publishing") this.kept.set(keyOf(name), { ...there, ...state } as Publication);
  }

  ids(after?: string): AsyncGenerator<string> {
    return idsBehind(this.kept.values(), after);
  }

  async *pending(): AsyncGenerator<Publication> {
    for (const one of this.kept.values()) if (one.status === "publishing") yield one;
  }
}

function keyOf({ workflowId, version }: PublicationName): string {
  return `${workflowId}#${version}`;
}

/** States of workflows in memory. */
export class MemoryWorkflowStates implements WorkflowStates {
  readonly kept = new Map<string, WorkflowState>();

  async get(workflowId: string): Promise<WorkflowState | undefined> {
    return this.kept.get(workflowId);
  }

  async set(workflowId: string, changes: Partial<Pick<WorkflowState, "active" | "deleted">>): Promise<void> {
    this.kept.set(workflowId, { format: 1, workflowId, ...this.kept.get(workflowId), ...changes });
  }

  async move(workflowId: string, from: VersionPointers, to: Partial<WorkflowState>): Promise<boolean> {
    const { active, deleted, touched = [] } = this.kept.get(workflowId) ?? {};
    const isUnchanged = active === from.active && deleted === from.deleted && `${touched}` === `${from.touched ?? []}`;
    if (isUnchanged) await this.#change(workflowId, to);
    return isUnchanged;
  }

  async pause(workflowId: string, from: Pauses, to: Pauses): Promise<boolean> {
    const { paused, ...rest } = { format: 1 as const, workflowId, ...this.kept.get(workflowId) };
    const isUnchanged = JSON.stringify(paused ?? {}) === JSON.stringify(from);
    if (isUnchanged) this.kept.set(workflowId, { ...rest, ...(Object.keys(to).length > 0 && { paused: to }) });
    return isUnchanged;
  }

  async endDeletion(workflowId: string, deed: AuditRecord): Promise<void> {
    const { leaving, ...rest } = this.kept.get(workflowId) as WorkflowState;
    if (leaving?.id === deed.id) this.kept.set(workflowId, rest);
  }

  async *unsettled(): AsyncIterable<UnsettledWorkflow> {
    for (const { workflowId, touched, handedOver } of this.kept.values())
      if (touched) yield { workflowId, touched, ...(handedOver && { handedOver }) };
  }

  async recordHandOver(workflowId: string, handedOver: HandOver): Promise<void> {
    const state = this.kept.get(workflowId);
    if (state?.touched) this.kept.set(workflowId, { ...state, handedOver });
  }

  async #change(workflowId: string, changes: Partial<WorkflowState>): Promise<void> {
    const { touched, handedOver, ...rest } = {
      format: 1 as const,
      workflowId,
      ...this.kept.get(workflowId),
      ...changes,
    };
    this.kept.set(workflowId, { ...rest, ...(touched?.length && { touched, ...(handedOver && { handedOver }) }) });
  }
}

/** Live triggers in memory. The class has the same conditions for writes as the table. */
export class MemoryTriggers implements TriggerStore {
  readonly kept = new Map<string, LiveTrigger>();

  async put(live: LiveTrigger): Promise<boolean> {
    const there = this.kept.get(live.key);
    if (there && there.workflowId !== live.workflowId) return false;
    this.kept.set(live.key, live);
    return true;
  }

  async get(key: string): Promise<LiveTrigger | undefined> {
    return this.kept.get(key);
  }

  async pause({ key, workflowId }: LiveTrigger, pause: LiveTrigger["pause"]): Promise<void> {
    const { pause: _, ...there } = this.kept.get(key) ?? {};
    if ("workflowId" in there && there.workflowId === workflowId) {
      this.kept.set(key, { ...(there as LiveTrigger), ...(pause && { pause }) });
    }
  }

  async remove({ key, workflowId }: Pick<LiveTrigger, "key" | "workflowId">): Promise<void> {
    if (this.kept.get(key)?.workflowId === workflowId) this.kept.delete(key);
  }
}

/** Deliveries in memory. The class has the same conditions for writes as the table. */
export class MemoryDeliveries implements DeliveryStore {
  readonly kept = new Map<string, Delivery>();

  async begin(delivery: Delivery): Promise<Delivery | undefined> {
    const there = this.kept.get(delivery.key);
    if (!there) this.kept.set(delivery.key, delivery);
    return there;
  }

  async finish(key: string, outcome: Pick<Delivery, "status" | "execution" | "reason">): Promise<void> {
    const there = this.kept.get(key);
    if (there && there.status !== "started") this.kept.set(key, { ...there, ...outcome });
  }

  async list({ workflow, client, status, limit, after = "~" }: DeliveryQuery): Promise<Delivery[]> {
    if (workflow === undefined && client === undefined) throw new RangeError("no index holds all deliveries");
    const fits = (one: Delivery) =>
      one.id < after &&
      (workflow === undefined || one.workflow === workflow) &&
      (client === undefined || one.client === client) &&
      (status === undefined || one.status === status);
    const newestFirst = [...this.kept.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
    return newestFirst.filter(fits).slice(0, limit);
  }
}

/** Stores schedules or rules by workflow and trigger, and by bus if they have a bus. */
export class MemoryNamed<T extends TriggerName & { bus?: string } = Schedule | EventRule> {
  readonly kept = new Map<string, T>();

  async put(one: T): Promise<void> {
    this.kept.set(placeOf(one), one);
  }

  async remove(name: TriggerName & { bus?: string }): Promise<void> {
    this.kept.delete(placeOf(name));
  }

  async firstAt(name: TriggerName): Promise<number | undefined> {
    const { firstAt } = (this.kept.get(placeOf(name)) ?? {}) as Partial<Schedule>;
    return firstAt === undefined ? undefined : Date.parse(firstAt);
  }
}

function placeOf({ workflow, trigger, bus }: TriggerName & { bus?: string }): string {
  return `${workflow}/${trigger}${bus === undefined ? "" : `@${bus}`}`;
}
