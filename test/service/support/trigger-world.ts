import { objectText } from "@nova/engine";
import { type Client, type Delivery, putTriggers, type ServicePorts } from "@nova/service";
import type { Trigger, Workflow } from "@nova/workflow";
import { contextAt } from "../../support/engine/context-at.ts";
import { action, flow } from "../../support/engine/flows.ts";
import { atOnce, type Caller } from "../../support/engine/scheduler.ts";
import { World } from "../../support/engine/world.ts";
import { MemoryDeliveries, MemoryNamed, MemoryPublications, MemoryTriggers, MemoryWorkflowStates } from "./stores.ts";

/** An in-memory service with only the ports that triggers need. A call of any other port fails. */
export class TriggerWorld {
  readonly engine = new World();
  readonly triggers = new MemoryTriggers();
  readonly deliveries = new MemoryDeliveries();
  readonly schedules = new MemoryNamed();
  readonly eventRules = new MemoryNamed();
  readonly workflowStates = new MemoryWorkflowStates();
  readonly publications = new MemoryPublications();
  readonly mails = new Map<string, Buffer>();
  clients = new Set(["acme"]);
  /** The DMARC policy that every domain publishes. */
  policy: "none" | "reject" = "none";
  domains: string[] = [];

  ports(caller: Caller = atOnce): ServicePorts {
    const { triggers, deliveries, schedules, eventRules, workflowStates, publications } = this;
    const ports: Partial<ServicePorts> = {
      ...this.engine.ports(caller),
      ...({ triggers, deliveries, schedules, eventRules, workflowStates, publications } as Partial<ServicePorts>),
      clients: { get: async (slug: string) => this.#client(slug) } as ServicePorts["clients"],
      machineVersions: { list: async (arn: string) => [arn] } as never,
      audit: { append: async () => undefined } as never,
      incomingMail: { open: async (key) => this.#mail(key) },
      mail: {
        domains: this.domains,
        dmarcPolicies: async () => this.policy,
        mailboxes: { open: () => Promise.reject(new RangeError("this test has no mailbox")) },
      },
    };
    return ports as ServicePorts;
  }

  /** Publishes and activates a workflow with these triggers. */
  async publish(id: string, triggers: Trigger[], inputs?: Workflow["inputs"]): Promise<void> {
    const arrows: [string, string][] = [
      ["start", "a"],
      ["a", "end"],
    ];
    this.engine.publish({ ...flow(id, [action("a")], arrows), triggers, ...(inputs && { inputs }) });
    await putTriggers(this.ports(), id, triggers);
  }

  /** Recorded deliveries, in the order of arrival. */
  get records(): Delivery[] {
    return [...this.deliveries.kept.values()];
  }

  /** Ids of the started runs. */
  get runs(): string[] {
    return [...this.engine.machines.keys()];
  }

  /** Returns the initial context of a run, with references in place of blobs. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at any part of the result
  async context(execution: string | null): Promise<any> {
    return JSON.parse(await this.contextText(execution));
  }

  async contextText(execution: string | null): Promise<string> {
    const context = await contextAt(this.engine.ports(atOnce), { execution: execution ?? "", scope: "", seq: 0 });
    return objectText(context.slots());
  }

  #client(slug: string): Client | undefined {
    return this.clients.has(slug)
      ? { format: 1, slug, name: slug, pins: {}, createdAt: new Date(0).toISOString() }
      : undefined;
  }

  #mail(key: string) {
    const raw = this.mails.get(key);
    return (
      raw && {
        bytes: raw.length,
        chunks: (async function* () {
          yield raw;
        })(),
      }
    );
  }
}
