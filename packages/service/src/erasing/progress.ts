import { defined } from "@nova/workflow/defined";
import type { Erasing } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import { everyItem } from "../ports/page.ts";

/** Less than what a sweeper takes for lost, so that nobody else begins beside somebody who works. */
const renewedMs = 30_000;

/** How far the erasure of a client is, in its record. */
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

  /** ISO 8601: when the client was deleted; of an older record that does not say so, when it last went on. */
  get markedAt(): string {
    return this.#at.markedAt ?? this.#at.since;
  }

  async beginPass({ mayBeLast }: { mayBeLast: boolean }): Promise<void> {
    await this.#put(defined({ part: "executions" as const, passSince: mayBeLast ? this.#now : undefined }));
  }

  async moveTo(place: Pick<Erasing, "part" | "cursor" | "runs">): Promise<void> {
    await this.#put({ ...place, ...defined({ passSince: this.#at.passSince }) });
  }

  /** `until`: milliseconds since the epoch. */
  async rest(until: number): Promise<void> {
    await this.#put({ part: "executions", restsUntil: new Date(until).toISOString() });
  }

  /** Says now and then that somebody is at it, where that takes long. */
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

/** Who saw the client before it was marked, and then begins a run, is over by then: receive-mail has 300 s. */
const startersLiveMs = 330_000;

/** Who was at a node of a run as that ended, and stores a model's answer, is over by then: run-node has 900 s. */
const writersLiveMs = 930_000;

/** Until somebody looks again who is at a node of the client's runs. */
const againMs = 30_000;

const countedAtOnce = 200;

/** What the records of a client's runs say; they stay, so their number tells whether a pass has seen all. */
interface Runs {
  count: number;
  isOpen: boolean;
  /** Milliseconds since the epoch: when the last of them ended. */
  endedMs: number;
}

/** Whether behind a pass that begins now there may be nothing more: no node of the client's is run by this process. */
export async function mayBeLast({ inFlight, executions }: ServicePorts, client: string): Promise<boolean> {
  const records = await Promise.all(inFlight.runs.map((id) => executions.get(id)));
  return !records.some((record) => record?.client === client);
}

/**
 * What comes behind a pass: nothing more, another one at once, or (milliseconds since the epoch) another one later,
 * when whoever could store something after this one is over.
 */
export async function behindPass(ports: ServicePorts, client: string, progress: ErasureProgress) {
  const runs = await runsOf(ports, client);
  const { passSince, runs: seen = 0 } = progress.at;
  const now = ports.clock.now();
  if (runs.isOpen || runs.count > seen) return "another";
  if (passSince === undefined) return now + againMs;
  // Where erasures are queued, functions run in processes of their own, and only their time says when they are over.
  const ends = ports.erasureQueue
    ? [Date.parse(progress.markedAt) + startersLiveMs, runs.endedMs + writersLiveMs]
    : [runs.endedMs];
  const later = ends.filter((end) => end > now);
  if (later.length > 0) return Math.min(...later);
  return ends.every((end) => end <= Date.parse(passSince)) ? "nothing" : "another";
}

async function runsOf({ executions }: ServicePorts, client: string): Promise<Runs> {
  const found: Runs = { count: 0, isOpen: false, endedMs: 0 };
  const pageAt = (cursor?: string) => executions.list(defined({ client, limit: countedAtOnce, cursor }));
  for await (const { open, endedAt } of everyItem(pageAt)) {
    found.count += 1;
    found.isOpen ||= open;
    if (endedAt !== undefined) found.endedMs = Math.max(found.endedMs, Date.parse(endedAt));
  }
  return found;
}
