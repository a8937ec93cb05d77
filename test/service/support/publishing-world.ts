import { compileWorkflow } from "@nova/compiler";
import { type Execution, StoreUnavailable, type WorkflowVersion } from "@nova/engine";
import type { AuditRecord, Client, EventRule, Schedule, ServicePorts } from "@nova/service";
import { idsBehind } from "../../support/ids-behind.ts";
import { MemoryNamed, MemoryPublications, MemoryTriggers, MemoryWorkflowStates } from "./stores.ts";

/** The reaction of Step Functions to a publication. When `answers` is empty, Step Functions accepts the publication. */
export type MachineAnswer = "refuses" | "is out of reach" | "dies behind it";

/** The ports that publishing needs, in memory. Any other port is undefined, so its use fails. */
export class PublishingWorld {
  readonly publications = new MemoryPublications();
  readonly workflowStates = new MemoryWorkflowStates();
  readonly versions: WorkflowVersion[] = [];
  readonly triggers = new MemoryTriggers();
  readonly schedules = new MemoryNamed<Schedule>();
  readonly eventRules = new MemoryNamed<EventRule>();
  readonly clients: Client[] = [];
  readonly open: Partial<Execution>[] = [];
  readonly deeds: AuditRecord[] = [];
  /** ARNs of machine versions, newest first. */
  readonly machines: string[] = [];
  /** Publications that were put into the queue. */
  readonly queued: { workflow: string; version: number }[] = [];
  readonly answers: MachineAnswer[] = [];
  now = Date.parse("2026-01-01T00:00:00Z");
  #published = 0;

  ports({ queue = false } = {}): ServicePorts {
    const { publications, workflowStates, versions, clients, open, machines } = this;
    const of = (id: string) =>
      versions.filter(({ workflowId }) => workflowId === id).sort((a, b) => a.version - b.version);
    const ports: Partial<ServicePorts> = {
      publications,
      workflowStates,
      triggers: this.triggers,
      schedules: this.schedules,
      eventRules: this.eventRules,
      workflows: {
        get: async (id, version) => of(id).find((one) => one.version === version),
        stored: () => Promise.reject(new Error("nobody verifies here")),
        latest: async (id) => of(id).at(-1),
        create: async (version) => this.#create(version),
        ids: (after) => idsBehind(versions, after),
        async *everyVersion() {
          yield* versions;
        },
      },
      stateMachines: { publish: async (name: string) => this.#publish(name) } as never,
      machineVersions: {
        removeMachine: async () => undefined,
        list: async () => [...machines],
        remove: async (arn) => void machines.splice(machines.indexOf(arn), 1),
      },
      executions: {
        list: async () => ({ items: [] }),
        async *open() {
          yield* open;
        },
      } as never,
      clients: { list: async () => clients, get: async () => undefined } as never,
      credentialStore: { list: async () => [] } as never,
      credentials: { forget: () => undefined } as never,
      audit: { append: async (record: AuditRecord) => this.#write(record) } as never,
      templates: { of: async () => "base" },
      compile: compileWorkflow,
      clock: { now: () => this.now, sleep: async (ms) => this.#pass(ms) },
      ...(queue && { publishQueue: { enqueue: async (name) => void this.queued.push(name) } }),
    };
    return ports as ServicePorts;
  }

  #dying = false;

  #write(record: AuditRecord): void {
    if (!this.deeds.some(({ id }) => id === record.id)) this.deeds.push(record);
  }

  #pass(ms: number): void {
    this.now += ms;
  }

  #publish(name: string): string {
    const answer = this.answers.shift();
    if (answer === "refuses") throw Object.assign(new Error("no such state"), { name: "InvalidDefinition" });
    if (answer === "is out of reach") throw new StoreUnavailable("Step Functions did not answer in time");
    this.#dying = answer === "dies behind it";
    const arn = `arn:aws:states:us-east-1:000000000000:stateMachine:${name}:${++this.#published}`;
    this.machines.unshift(arn);
    return arn;
  }

  #create(version: WorkflowVersion): boolean {
    if (this.#dying) {
      this.#dying = false;
      throw new StoreUnavailable("the process died");
    }
    const isNew = !this.versions.some(
      (one) => one.workflowId === version.workflowId && one.version === version.version,
    );
    if (isNew) this.versions.push(version);
    return isNew;
  }
}

/** Returns the triggers in the table, the triggers in EventBridge, and the triggers that the active version defines. */
export function live(world: PublishingWorld, workflowId = "a") {
  const { active = 0, deleted = 0 } = world.workflowStates.kept.get(workflowId) ?? {};
  const version = active > deleted ? world.versions.find((one) => one.version === active) : undefined;
  const triggers = version?.workflow.triggers ?? [];
  const there = [...world.triggers.kept.values()].map(({ trigger }) => JSON.stringify(trigger)).sort();
  const places = triggers.flatMap((one) => {
    if (one.type === "event") return `${workflowId}/${one.id}@${one.bus}`;
    return ["schedule", "imap"].includes(one.type) ? `${workflowId}/${one.id}` : [];
  });
  return {
    there,
    wanted: triggers.map((one) => JSON.stringify(one)).sort(),
    outside: [...world.schedules.kept.keys(), ...world.eventRules.kept.keys()].sort(),
    places: places.sort(),
  };
}
