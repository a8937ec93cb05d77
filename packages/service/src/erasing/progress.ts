import type { Erasing } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";

/** Less than what a sweeper takes for lost, so that nobody else begins beside somebody who works. */
const renewedMs = 30_000;

/** Where a pass is. */
type Place = Pick<Erasing, "part" | "cursor" | "runs">;

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
    await this.#put({ part: "executions", ...(mayBeLast && { passSince: this.#now }) });
  }

  async moveTo(place: Place): Promise<void> {
    const { passSince } = this.#at;
    await this.#put({ ...place, ...(passSince !== undefined && { passSince }) });
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
