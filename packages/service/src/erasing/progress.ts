import type { Erasing } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";

/** Less than what a sweeper takes for lost, so that nobody else begins beside somebody who works. */
const renewedMs = 30_000;

type Place = Pick<Erasing, "part" | "cursor" | "runs" | "restsUntil">;

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

  async moveTo(place: Place): Promise<void> {
    const { by } = this.#at;
    const since = new Date(this.#ports.clock.now()).toISOString();
    this.#at = { by, markedAt: this.markedAt, since, ...place };
    await this.#ports.clients.update(this.#client, { erasing: this.#at });
  }

  /** Says now and then that somebody is at it, where that takes long. */
  async renew(): Promise<void> {
    if (this.#ports.clock.now() - Date.parse(this.#at.since) < renewedMs) return;
    const { part, cursor, runs } = this.#at;
    await this.moveTo({
      part,
      ...(cursor !== undefined && { cursor }),
      ...(runs !== undefined && { runs }),
    });
  }
}
