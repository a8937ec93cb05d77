import { startExecution } from "@nova/engine";
import { type AuditRecord, type Client, execute, type ServicePorts } from "@nova/service";
import { atOnce } from "../../support/engine/scheduler.ts";
import { TriggerWorld } from "./trigger-world.ts";

export const ann = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
const ulid = "01J00000000000000000000000";

/** An in-memory service with one client and one workflow, whose runs stay open until a test ends them. */
export class ErasureWorld extends TriggerWorld {
  readonly kept = new Map<string, Client>([
    ["acme", { format: 1, slug: "acme", name: "Acme", pins: {}, createdAt: new Date(0).toISOString() }],
  ]);
  readonly written = new Map<string, AuditRecord>();
  readonly queued: { client: string; execution?: string }[] = [];
  readonly emptied: string[] = [];
  /** The times at which the erasure reported progress. */
  readonly renewals: (string | undefined)[] = [];
  /** Runs that are not yet in the index of open runs, or not yet in the client's list of runs. */
  readonly late = { open: new Set<string>(), listed: new Set<string>() };
  /** Whether erasures use a queue, as in a deployment. */
  hasQueue = false;
  /** Called when the erasure reaches the last part of the table. */
  onRest: () => Promise<void> = async () => undefined;
  /** Called for each run that is read from the list of open runs. */
  onOpen: () => void = () => undefined;

  service(): ServicePorts {
    const ports = super.ports();
    const { kept, late } = this;
    const { executions } = ports;
    const onOpen = () => this.onOpen();
    return {
      ...ports,
      executions: {
        ...executions,
        list: async ({ client }: { client: string }) => {
          const { items } = await executions.list({});
          return { items: items.filter((run) => run.client === client && !late.listed.has(run.id)) };
        },
        async *open() {
          for await (const run of executions.open()) {
            if (late.open.has(run.id)) continue;
            onOpen();
            yield run;
          }
        },
      },
      clients: {
        get: async (slug: string) => kept.get(slug),
        update: async (slug: string, changes: Partial<Client>) => this.#update(slug, changes),
        remove: async (slug: string) => void kept.delete(slug),
        list: async () => [...kept.values()],
      },
      keys: { list: async () => [] },
      sessions: { list: async () => [] },
      audit: { append: async (deed: AuditRecord) => void this.written.set(deed.id, deed) },
      eraser: {
        contents: async ({ execution, scope }: { execution: string; scope: string }) => this.#empty(execution, scope),
        traces: async () => undefined,
        blobs: async () => undefined,
        objects: async () => undefined,
        rest: async () => this.onRest(),
      },
      ...(this.hasQueue && {
        erasureQueue: { enqueue: async (one: { client: string }) => void this.queued.push(one) },
      }),
    } as unknown as ServicePorts;
  }

  /** Starts a run without a check of the client, like a process that read the client long ago. */
  async begin(client = "acme"): Promise<string> {
    const [version] = this.engine.workflows.versions;
    if (!version) throw new RangeError("nothing is published");
    const context = JSON.stringify({ said: client });
    return (await startExecution(this.engine.ports(atOnce), { version, context, client })).id;
  }

  /** Starts a run through the service. Calls `meanwhile` directly after the service has checked the client. */
  async execute(meanwhile: () => Promise<unknown>): Promise<string> {
    const ports = this.service();
    let looked = false;
    const get = async (slug: string) => {
      const client = this.kept.get(slug);
      if (!looked) {
        looked = true;
        await meanwhile();
      }
      return client;
    };
    const request = { ulid, workflow: "report", context: '{"said": "acme"}', client: "acme" };
    return (await execute({ ...ports, clients: { ...ports.clients, get } }, ann, request)).id;
  }

  /** Whether any content of a run can still be read. */
  knows(id: string): boolean {
    return this.engine.chain.entriesOf(id).some(({ contents }) => JSON.stringify(contents).includes("acme"));
  }

  get deeds(): string[] {
    return Array.from(this.written.values(), ({ action }) => action);
  }

  get ids(): string[] {
    return [...this.engine.executions.records.keys()];
  }

  #update(slug: string, changes: Partial<Client>): boolean {
    const client = this.kept.get(slug);
    if (!client) return false;
    if (changes.erasing) this.renewals.push(changes.erasing.since);
    this.kept.set(slug, { ...client, ...changes });
    return true;
  }

  async #empty(execution: string, scope: string) {
    this.emptied.push(execution);
    for (const place of this.engine.chain.linksOf(execution, scope)) {
      if (place.entry) place.entry = { ...place.entry, contents: {} };
    }
    return [];
  }
}
