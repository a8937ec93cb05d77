import { createHash } from "node:crypto";
import {
  type BlobHome,
  BlobMissing,
  type BlobStore,
  type EventBus,
  type Execution,
  type ExecutionStore,
  type KeyPair,
  type Offer,
  type Sandbox,
  type Signer,
  StoreUnavailable,
  type WorkflowStore,
  type WorkflowVersion,
} from "@nova/engine";
import { idsBehind } from "../ids-behind.ts";
import type { Caller } from "./scheduler.ts";

const outage = () => new StoreUnavailable("the store did not answer in time");

export class ExecutionState {
  readonly records = new Map<string, Execution>();
  /** Offered sandboxes, by the execution that offers them. When another run takes a sandbox, the sandbox is removed. */
  readonly offers = new Map<string, Sandbox[]>();

  port(caller: Caller): ExecutionStore {
    const ask = <T>(name: string, effect: () => T) => caller.call({ name, effect, outage });
    const { records, offers } = this;
    return {
      create: (execution) =>
        ask("create record", () => {
          const source = records.get(execution.restartedFrom ?? "");
          const restarts = new Set(source?.restarts).add(execution.id);
          if (source) records.set(source.id, { ...source, restarts: [...restarts] });
          if (records.has(execution.id)) return false;
          records.set(execution.id, { ...execution });
          return true;
        }),
      get: (id) => ask("get record", () => records.get(id)),
      update: (id, changes) =>
        ask(`update record ${Object.keys(changes)[0]}`, () => {
          records.set(id, { ...(records.get(id) as Execution), ...changes });
        }),
      setStatus: (id, status, from) =>
        ask(`set status ${status}`, () => {
          const record = records.get(id);
          if (!record?.open || !from.includes(record.status)) return false;
          records.set(id, { ...record, status });
          return true;
        }),
      admit: (id, { from, to, begun }) =>
        ask(`admit record${begun ? " as begun" : ""}`, () => {
          const record = records.get(id);
          if (!record?.open || record.status !== "queued" || ![from, to].includes(record.admission ?? "")) return false;
          records.set(id, { ...record, admission: to, ...(begun && { status: "running" }) });
          return true;
        }),
      leave: ({ id }, idle) =>
        ask("leave the open index", () => {
          const record = records.get(id);
          if (!record?.open) return false;
          records.set(id, { ...record, open: false });
          if (idle.length > 0) offers.set(id, [...idle]);
          return true;
        }),
      idle: (owner) =>
        ask("idle records", () =>
          [...offers].flatMap(([id, offered]) => {
            const record = records.get(id) as Execution;
            return record.client === (owner ?? record.client)
              ? offered.map((idle) => ({ ...record, idle, offered: [...offered] }))
              : [];
          }),
        ),
      keepIdle: (offer, instead) => ask("keep idle", () => this.#replaceIdle(offer, [instead])),
      takeIdle: (offer) => ask("take idle", () => this.#replaceIdle(offer, [])),
      list: () => ask("list records", () => ({ items: Array.from(records.values()).reverse() })),
      async *open() {
        yield* await ask("open records", () => Array.from(records.values()).filter(({ open }) => open));
      },
    };
  }

  #replaceIdle({ id, idle }: Offer, by: Sandbox[]): boolean {
    const offered = this.offers.get(id) ?? [];
    const others = offered.filter((one) => one.id !== idle.id);
    if (others.length === offered.length) return false;
    if (others.length + by.length > 0) this.offers.set(id, [...others, ...by]);
    else this.offers.delete(id);
    return true;
  }
}

export class WorkflowState {
  readonly versions: WorkflowVersion[] = [];

  /**
   * Returns a port whose calls cannot fail. A warm Lambda has the versions in memory, because versions never change.
   */
  port(): WorkflowStore {
    const versions = this.versions;
    const of = (id: string) => versions.filter(({ workflowId }) => workflowId === id);
    const get: WorkflowStore["get"] = async (id, version) => of(id).find((one) => one.version === version);
    return {
      get,
      stored: get,
      latest: async (id) => of(id).at(-1),
      create: async (version) => {
        if (of(version.workflowId).some((other) => other.version === version.version)) return false;
        versions.push(version);
        return true;
      },
      ids: (after) => idsBehind(versions, after),
      async *everyVersion() {
        yield* versions;
      },
    };
  }
}

export class BlobState {
  readonly blobs = new Map<string, Uint8Array>();
  puts = 0;

  port(caller: Caller): BlobStore {
    const keyOf = (home: BlobHome, sha256: string) => `${home.client}/${home.root}/${sha256}`;
    const load = (home: BlobHome, sha256: string) =>
      caller.call({
        name: `get blob ${sha256.slice(0, 6)}`,
        outage,
        effect: () => {
          const body = this.blobs.get(keyOf(home, sha256));
          if (!body) throw new BlobMissing(`blob ${sha256} was erased`);
          return body;
        },
      });
    return {
      put: async (home, ref, body) => {
        const bytes = body instanceof Uint8Array ? body : await collected(body);
        const hash = createHash("sha256").update(bytes).digest("hex");
        if (hash !== ref.sha256 || bytes.length !== ref.bytes)
          throw new RangeError(`blob ${ref.sha256} has other bytes`);
        await caller.call({
          name: `put blob ${hash.slice(0, 6)}`,
          outage,
          effect: () => {
            this.puts++;
            this.blobs.set(keyOf(home, hash), bytes);
          },
        });
      },
      get: load,
      placeOf: (home, sha256) => ({ bucket: "memory", key: keyOf(home, sha256) }),
      stream: async (home, sha256) => chunksOf(await load(home, sha256)),
    };
  }
}

async function collected(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Splits a body into small chunks, so that a text to search for often spans two of them. */
async function* chunksOf(body: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < body.length; at += 50) yield body.subarray(at, at + 50);
}

export class EventState {
  readonly published: { type: string; detail: Record<string, unknown> }[] = [];

  port(caller: Caller): EventBus {
    return {
      publish: (type, detail) =>
        caller.call({ name: `publish ${type}`, outage, effect: () => void this.published.push({ type, detail }) }),
    };
  }
}

/**
 * Returns a key pair whose signatures are valid only with the same key. It ignores the period in which a key is valid.
 */
export function keyPairWith(key: string, caller: Caller): KeyPair {
  return { ...signerWith(key, caller), publicKeys: async () => [] };
}

/** Returns a signer whose signatures are valid only with the same key, as with KMS. */
export function signerWith(key: string, caller: Caller): Signer {
  const mac = (text: string) => createHash("sha256").update(`${key}:${text}`).digest("hex");
  return {
    sign: (text) => caller.call({ name: "sign", outage, effect: () => mac(text) }),
    verify: async (text, signature) => mac(text) === signature,
  };
}
