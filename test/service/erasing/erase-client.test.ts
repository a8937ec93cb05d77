import type { Execution } from "@nova/engine";
import {
  type AuditRecord,
  type Client,
  Conflict,
  createClient,
  deleteClient,
  type Eraser,
  eraseClient,
  eraseExecution,
  execute,
  NotFound,
  once,
  type ServicePorts,
  startFromTrigger,
  sweepErasures,
} from "@nova/service";
import { ulid } from "ulid";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inARow, openTestCloud, type TestCloud } from "../../support/cloud.ts";

const ann = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;

/**
 * A world with one client that has 120 runs in three pages of a table. It logs each erasure. Its process can die once.
 */
class ErasingWorld {
  readonly log: string[] = [];
  readonly written = new Map<string, AuditRecord>();
  readonly queued: string[] = [];
  client: Client | undefined = {
    format: 1,
    slug: "acme",
    name: "Acme",
    pins: {},
    createdAt: "2026-01-01T00:00:00.000Z",
  };
  keys = ["key_1", "key_2"];
  now = Date.parse("2026-01-01T00:00:00Z");
  /** The number of entries in `log` at which the process dies. */
  dies = Number.POSITIVE_INFINITY;
  readonly runs: (Pick<Execution, "id" | "client"> & Partial<Execution>)[] = Array.from(
    { length: 120 },
    (_, index) => ({
      id: `exec_${index}`,
      client: "acme",
    }),
  );

  #note(line: string): void {
    if (this.log.length === this.dies) {
      this.dies = Number.POSITIVE_INFINITY;
      throw new Error("the process died");
    }
    this.log.push(line);
    this.now += 1_000;
  }

  deeds(): string[] {
    return Array.from(this.written.values(), ({ action }) => action);
  }

  ports({ queue = false } = {}): ServicePorts {
    const eraser: Eraser = {
      contents: async ({ execution, scope }) => {
        this.#note(`${execution}${scope}`);
        return [];
      },
      traces: async () => undefined,
      blobs: async ({ root }) => this.#note(`blobs of ${root}`),
      objects: async (client) => this.#note(`objects of ${client}`),
      rest: async (_, cursor = "0") => {
        this.#note(`rest ${cursor}`);
        return cursor === "2" ? undefined : String(Number(cursor) + 1);
      },
    };
    const ports = {
      chain: { putNote: async () => true },
      keyPair: { sign: async () => "signed" },
      eraser,
      clients: {
        get: async () => this.client,
        update: async (_: string, changes: Partial<Client>) => {
          this.client = { ...(this.client as Client), ...changes };
          return true;
        },
        remove: async () => {
          this.client = undefined;
        },
        list: async () => (this.client ? [this.client] : []),
      },
      sessions: { list: async () => [] },
      keys: { list: async () => this.keys.map((id) => ({ id })), remove: async (id: string) => this.#remove(id) },
      executions: {
        get: async (id: string) => this.runs.find((run) => run.id === id),
        update: async (id: string, changes: Partial<Execution>) => {
          Object.assign(this.runs.find((run) => run.id === id) ?? {}, changes);
        },
        async *open() {},
        list: async ({ cursor = "0", limit }: { cursor?: string; limit: number }) => {
          const end = Number(cursor) + limit;
          const items = this.runs.slice(Number(cursor), end);
          return { items, ...(end < this.runs.length && { cursor: String(end) }) };
        },
      },
      audit: { append: async (deed: AuditRecord) => void this.written.set(deed.id, deed) },
      clock: { now: () => this.now },
      inFlight: { runs: [] },
      ...(queue && {
        erasureQueue: { enqueue: async ({ client }: { client: string }) => void this.queued.push(client) },
      }),
    };
    return ports as unknown as ServicePorts;
  }

  #remove(id: string): boolean {
    this.keys = this.keys.filter((one) => one !== id);
    return true;
  }
}

let world: ErasingWorld;
beforeEach(() => {
  world = new ErasingWorld();
});

describe("deleting a client", () => {
  it("erases the client's runs and objects and all records that name the client, and erases the client last", async () => {
    expect(await deleteClient(world.ports(), ann, "acme")).toBe(true);
    const runs = world.runs.map(({ id }) => id);
    expect(world.log).toEqual([...runs, "objects of acme", "rest 0", "rest 1", "rest 2"]);
    expect([world.keys, world.client]).toEqual([[], undefined]);
    expect(world.deeds()).toEqual(["client.deleted", "client.erased"]);
  });

  it.each([true, false])(
    "is recorded in the audit log once, even if the process died before it wrote the audit record (with a queue: %s)",
    async (queue) => {
      const ports = world.ports({ queue });
      const { append } = ports.audit;
      ports.audit.append = () => Promise.reject(new RangeError("died"));
      await expect(deleteClient(ports, ann, "acme")).rejects.toThrow("died");
      expect([world.client?.erasing?.by, world.deeds(), world.log]).toEqual([ann.id, [], []]);
      ports.audit.append = append;
      await deleteClient(ports, { ...ann, id: "key_2" }, "acme");
      await eraseClient(ports, "acme");
      expect(world.deeds().slice(0, 2)).toEqual(queue ? ["client.deleted"] : ["client.deleted", "client.erased"]);
      expect(world.written.values().next().value).toMatchObject({ by: ann.id, client: "acme" });
    },
  );

  it("is recorded in the audit log by the process that erases if the process that marked the client as deleted died", async () => {
    const ports = world.ports();
    const { append } = ports.audit;
    ports.audit.append = () => Promise.reject(new RangeError("died"));
    await expect(deleteClient(ports, ann, "acme")).rejects.toThrow("died");
    ports.audit.append = append;
    expect(await eraseClient(ports, "acme")).toBe(true);
    expect(world.deeds()).toEqual(["client.deleted", "client.erased"]);
  });

  it("only marks the client as deleted and enqueues the erasure if there is a queue", async () => {
    expect(await deleteClient(world.ports({ queue: true }), ann, "acme")).toBe(false);
    expect(world.queued).toEqual(["acme"]);
    expect(world.client?.erasing).toMatchObject({ by: ann.id, part: "executions" });
    expect(world.log).toEqual([]);
  });

  it.each([0, 30, 49, 50, 75, 119, 120, 121, 123])(
    "continues where it stopped if its process dies after %i steps",
    async (steps) => {
      const ports = world.ports();
      world.dies = steps;
      await expect(deleteClient(ports, ann, "acme")).rejects.toThrow(/died/);
      const again = world.log.length;
      expect(await eraseClient(ports, "acme")).toBe(true);
      expect(world.client).toBeUndefined();
      expect(new Set(world.log).size).toBe(124);
      expect(world.log.length - again).toBeLessThanOrEqual(124 - Math.floor(Math.min(steps, 120) / 50) * 50);
      expect(world.deeds()).toEqual(["client.deleted", "client.erased"]);
    },
  );

  it("pauses when its time limit is over, and the sweeper continues the erasure two minutes later", async () => {
    const ports = world.ports({ queue: true });
    await deleteClient(ports, ann, "acme");
    expect(await eraseClient(ports, "acme", world.now + 60_000)).toBe(false);
    expect(world.log).toHaveLength(100);
    expect(await sweepErasures(ports)).toEqual([]);
    world.now += 121_000;
    expect(await sweepErasures(ports)).toEqual(["acme"]);
    expect(await eraseClient(ports, "acme")).toBe(false);
    expect(new Set(world.log).size).toBe(124);
  });

  it("erases nothing of a client that is not marked as deleted", async () => {
    expect(await eraseClient(world.ports(), "acme")).toBe(true);
    expect(world.client).toBeDefined();
    expect(world.log).toEqual([]);
  });
});

describe("erasing a run", () => {
  const run = { id: "exec_1", client: "acme", root: "exec_1", open: false } as Execution;

  it("erases all scopes of the run and the runs inside it, and removes the blobs last", async () => {
    const ports = world.ports();
    const contents: Eraser["contents"] = async (at) => {
      await world.ports().eraser.contents(at);
      if (at.execution !== "exec_1" || at.scope !== "") return [];
      const items = Array.from({ length: 40 }, (_, index) => ({ execution: "exec_1", scope: `/each@2.${index}` }));
      return [...items, { execution: "exec_2", scope: "" }];
    };
    await eraseExecution({ ...ports, eraser: { ...ports.eraser, contents } }, run);
    expect(world.log).toHaveLength(43);
    expect(world.log).toContain("exec_2");
    expect(world.log.at(-1)).toBe("blobs of exec_1");
  });

  describe("with restarts", () => {
    const family = (changes: Partial<Execution> = {}) => {
      const [first, second, third] = world.runs.splice(0, 3) as Execution[];
      const root = "exec_0";
      world.runs.push({ ...(first as Execution), root, restarts: ["exec_1"] });
      world.runs.push({ ...(second as Execution), root, restartedFrom: "exec_0", restarts: ["exec_2"], ...changes });
      world.runs.push({ ...(third as Execution), root, restartedFrom: "exec_1" });
      return (id: string) => world.runs.find((one) => one.id === id) as Execution;
    };

    it("erases the run and its restarts, returns the ids of all these runs, and removes the shared blobs last", async () => {
      const find = family();
      expect(await eraseExecution(world.ports(), find("exec_1"))).toEqual(["exec_1", "exec_2"]);
      expect(world.log.splice(0)).toEqual(["exec_1", "exec_2"]);
      expect(await eraseExecution(world.ports(), find("exec_0"))).toEqual(["exec_0", "exec_1", "exec_2"]);
      expect(world.log).toEqual(["exec_0", "exec_1", "exec_2", "blobs of exec_0"]);
    });

    it("erases nothing while a restart is open or is being created", async () => {
      const find = family();
      Object.assign(find("exec_2"), { open: true });
      await expect(eraseExecution(world.ports(), find("exec_0"))).rejects.toThrow(
        "execution exec_2, which was restarted from exec_0, is open",
      );
      const made = `exec_${ulid(world.now - 1_000)}`;
      Object.assign(find("exec_2"), { open: false, restarts: [made] });
      await expect(eraseExecution(world.ports(), find("exec_1"))).rejects.toThrow(`execution ${made}, which`);
      expect(world.log).toEqual([]);
      world.now += 3_601_000;
      expect(await eraseExecution(world.ports(), find("exec_1"))).toEqual(["exec_1", "exec_2"]);
    });

    it("does not erase other runs if a forged record names them as restarts", async () => {
      const find = family({ restarts: ["exec_7", "exec_8", "nothing"] });
      Object.assign(find("exec_7"), { client: "globex", restartedFrom: "exec_1" });
      expect(await eraseExecution(world.ports(), find("exec_1"))).toEqual(["exec_1"]);
    });
  });

  it.each([
    ["that is open", { open: true }, /is open - cancel it/],
    ["inside another run", { root: "exec_0", parent: { execution: "exec_2" } }, /a part of exec_2 - erase that one/],
  ])("%s is refused", async (_what, changes, message) => {
    await expect(eraseExecution(world.ports(), { ...run, ...changes } as Execution)).rejects.toThrow(message);
    expect(world.log).toEqual([]);
  });
});

describe("during the deletion of a client,", () => {
  const ofClient = { id: `key_${"1".repeat(26)}`, role: "runner", name: "bob" } as const;

  let cloud: TestCloud;
  let slug: string;
  let next = 0;
  beforeAll(async () => {
    cloud = await openTestCloud();
    await cloud.publish(inARow("report", { say: "pass" }));
  });
  afterAll(() => cloud.close());
  beforeEach(async () => {
    slug = `client-${next++}`;
    await createClient(cloud.service, ann, { slug, name: slug });
  });

  /** Returns ports of a process that reads the client just before the deletion, and the workflow after the deletion. */
  function slowly() {
    const { workflows } = cloud.service;
    const latest: typeof workflows.latest = async (id) => {
      await deleteClient(cloud.service, ann, slug);
      return workflows.latest(id);
    };
    return { ...cloud.service, workflows: { ...workflows, latest } };
  }

  it("a delivery that starts a run is refused and leaves no record", async () => {
    const known = { type: "schedule", workflow: "report", trigger: "nightly", client: slug } as const;
    const arrival = { dedupe: "9:00", from: "schedule", about: "", context: "{}" };
    expect(await startFromTrigger(slowly(), { ...known, ...arrival })).toMatchObject({
      status: "refused",
      execution: null,
    });
    expect(await cloud.service.deliveries.list({ client: slug, limit: 1 })).toEqual([]);
  });

  it("a request that starts a run with the client's own API key is refused because the client is gone", async () => {
    const by = { ...ofClient, client: slug };
    const request = { principal: by.id, client: slug, key: `k ${slug}`, asked: "this" };
    const ports = slowly();
    const run = { ulid: "01J00000000000000000000000", workflow: "report", client: slug, context: "{}" };
    const error = await once(ports, request, () => execute(ports, by, run)).catch((thrown) => thrown);
    expect([Conflict, NotFound].some((kind) => error instanceof kind)).toBe(true);
  });
});
