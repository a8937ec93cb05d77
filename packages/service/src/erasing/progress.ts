import { defined } from "@nova/workflow/defined";
import type { Erasing } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import { everyItem } from "../ports/page.ts";

/** Shorter than the sweeper's limit for lost erasures, so that two processes do not work on one. */
const renewedMs = 30_000;

/** The progress of a client's erasure, stored in its record. */
export class ErasureProgress {
  readonly #ports: Pick<ServicePorts, "clients" | "clock">;
  readonly #client: string;
  #at: Erasing;

  constructor(ports: Pick<ServicePorts, "clients" | "clock">, client: string, at: Erasing) {
    this.#ports = ports;
    this.#client = client;
    this.#at = at;
  }

  get at(): Readonly<Erasing> {
    return this.#at;
  }

  /** ISO 8601: when the client was deleted. */
  get markedAt(): string {
    return this.#at.markedAt ?? this.#at.since;
  }

  async beginPass({ canBeLastPass }: { canBeLastPass: boolean }): Promise<void> {
    await this.#put(defined({ part: "executions" as const, passSince: canBeLastPass ? this.#now : undefined }));
  }

  async moveTo(place: Pick<Erasing, "part" | "cursor" | "runs">): Promise<void> {
    await this.#put({ ...place, ...defined({ passSince: this.#at.passSince }) });
  }

  /** Pauses the erasure; `until` is in milliseconds since the epoch. */
  async rest(until: number): Promise<void> {
    await this.#put({ part: "executions", restsUntil: new Date(until).toISOString() });
  }

  /** Updates the time of the last step during long work. */
  async renew(): Promise<void> {
    if (this.#ports.clock.now() - Date.parse(this.#at.since) < renewedMs) return;
    const { by: _, since: __, markedAt: ___, ...place } = this.#at;
    await this.#put(place);
  }

  get #now(): string {
    return new Date(this.#ports.clock.now()).toISOString();
  }

  async #put(place: Omit<Erasing, "by" | "since" | "markedAt">): Promise<void> {
    this.#at = { by: this.#at.by, markedAt: this.markedAt, since: this.#now, ...place };
    await this.#ports.clients.update(this.#client, { erasing: this.#at });
  }
}

/** After this time, processes that saw the client before its deletion can start no more runs: receive-mail has 300 s. */
const startersLiveMs = 330_000;

/** After this time, a node of an ended run can store no more answers of a model: run-node has 900 s. */
const writersLiveMs = 930_000;

/** Pause before the next look at the nodes that this process runs for the client. */
const againMs = 30_000;

const countedAtOnce = 200;

/** A summary of the client's runs. Records stay, so their number shows whether a pass has seen all. */
interface Runs {
  count: number;
  isOpen: boolean;
  /** Milliseconds since the epoch: the latest end of a run. */
  endedMs: number;
}

/** Whether a pass that starts now can be the last one: this process runs no node of the client. */
export async function canBeLastPass({ inFlight, executions }: ServicePorts, client: string): Promise<boolean> {
  const records = await Promise.all(inFlight.runs.map((id) => executions.get(id)));
  return !records.some((record) => record?.client === client);
}

/**
 * Decides what follows a pass: "nothing", "another" pass immediately, or another pass at a time (milliseconds since the
 * epoch) when all processes that could still store something have ended.
 */
export async function planAfterPass(ports: ServicePorts, client: string, progress: ErasureProgress) {
  const runs = await summarizeRuns(ports, client);
  const { passSince, runs: seen = 0 } = progress.at;
  const now = ports.clock.now();
  if (runs.isOpen || runs.count > seen) return "another";
  if (passSince === undefined) return now + againMs;
  // With a queue, functions run in other processes, and only their maximum run time shows when they have ended.
  const ends = ports.erasureQueue
    ? [Date.parse(progress.markedAt) + startersLiveMs, runs.endedMs + writersLiveMs]
    : [runs.endedMs];
  const later = ends.filter((end) => end > now);
  if (later.length > 0) return Math.min(...later);
  return ends.every((end) => end <= Date.parse(passSince)) ? "nothing" : "another";
}

async function summarizeRuns({ executions }: ServicePorts, client: string): Promise<Runs> {
  const found: Runs = { count: 0, isOpen: false, endedMs: 0 };
  const pageAt = (cursor?: string) => executions.list(defined({ client, limit: countedAtOnce, cursor }));
  for await (const { open, endedAt } of everyItem(pageAt)) {
    found.count += 1;
    found.isOpen ||= open;
    if (endedAt !== undefined) found.endedMs = Math.max(found.endedMs, Date.parse(endedAt));
  }
  return found;
}
