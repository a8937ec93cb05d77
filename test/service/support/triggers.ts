import type {
  Delivery,
  DeliveryQuery,
  DeliveryStore,
  EventRule,
  LiveTrigger,
  Schedule,
  TriggerName,
  TriggerStore,
} from "@nova/service";

/** Live triggers in memory, as strict as the table. */
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

/** Deliveries in memory, as strict as the table. */
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

/** Stores schedules or rules by workflow and trigger, and by bus if they have one. */
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
