import { setTimeout as sleep } from "node:timers/promises";
import { interruptedError, type Ports } from "@nova/engine";
import type { ServicePorts } from "@nova/service";
import type { Room } from "../disk/room.ts";
import type { CounterBook, Counters } from "./counting.ts";
import type { OpenedEndpoints } from "./endpoints.ts";
import type { Guests } from "./guests.ts";
import type { LocalCloud } from "./local-cloud.ts";
import type { Listener, Progress } from "./progress.ts";
import { prepareTemplate } from "./templates.ts";

/** As often as the schedule of the deployed sweeper. */
const sweepEveryMs = 60_000;

/** How long guests whose runs were interrupted may take to read what became of them. */
const goodbyeMs = 10_000;

interface Parts {
  dataDir: string;
  room: Room;
  environment: Record<string, string>;
  service: ServicePorts;
  counters: CounterBook;
  progress: Progress;
  guests: Guests;
  /** Sweeps at once, too: what waited in queues when the last process ended begins. */
  sweepsFirst: boolean;
  opened: Pick<OpenedEndpoints, "rest" | "interrupt" | "e2b">;
}

/** The cloud as the process sees it that opened it. */
export class OwnersCloud implements LocalCloud {
  readonly role = "owner";
  readonly dataDir: string;
  readonly environment: Record<string, string>;
  readonly ports: Ports;
  readonly service: ServicePorts;
  readonly lost = new Promise<void>(() => {});
  readonly ending = new Promise<void>(() => {});
  readonly #parts: Parts;
  readonly #shutDown: () => Promise<void>;
  /** An owner that is told to interrupt while it waits closes its endpoints once all the same. */
  #shut: Promise<void> | undefined;
  readonly #sweeping: NodeJS.Timeout;
  readonly #closing = new AbortController();
  /** The sweep that is under way, or the last one: they never overlap. */
  #swept: Promise<void> = Promise.resolve();

  /** `shutDown` closes the endpoints and gives the data folder free. */
  constructor(parts: Parts, shutDown: () => Promise<void>) {
    this.dataDir = parts.dataDir;
    this.environment = parts.environment;
    this.ports = parts.service;
    this.service = parts.service;
    this.#parts = parts;
    this.#shutDown = shutDown;
    const sweepNext = () => {
      this.#swept = this.#swept.then(() => this.#sweep());
    };
    if (parts.sweepsFirst) sweepNext();
    this.#sweeping = setInterval(sweepNext, sweepEveryMs).unref();
  }

  warmed(): Promise<void> {
    return this.#parts.opened.e2b.warmed();
  }

  templateFor(requirements: readonly string[]): Promise<string> {
    return prepareTemplate(this.dataDir, requirements);
  }

  async counters(execution: string): Promise<Counters> {
    return this.#parts.counters.of(execution);
  }

  untilEnd(execution: string, listener?: Listener): Promise<void> {
    return this.#parts.progress.untilEnd(execution, listener);
  }

  async close({ interrupt = false } = {}): Promise<void> {
    const { guests, opened } = this.#parts;
    clearInterval(this.#sweeping);
    if (interrupt) await this.#interrupt();
    const quiet = guests.lastOneLeft().then(() => {
      this.#holdQueues();
      return opened.rest();
    });
    await (interrupt ? Promise.race([quiet, sleep(goodbyeMs, undefined, { ref: false })]) : quiet);
    // A sweep of a thousand runs that finds its stores closed would try each of them for a while.
    this.#closing.abort();
    await this.#swept;
    this.#shut ??= this.#shutDown();
    await this.#shut;
  }

  /** A slot that comes free is nobody's: no run begins that would be cut off, or keep this process for its whole queue. */
  #holdQueues(): void {
    const { admissions } = this.service;
    if (admissions) admissions.held = true;
  }

  async #interrupt(): Promise<void> {
    this.#holdQueues();
    await this.#parts.opened.interrupt(interruptedError, "The process that ran it was stopped.");
    this.#parts.guests.sayGoodbye();
  }

  async #sweep(): Promise<void> {
    if (!this.#parts.room.isThere) return;
    try {
      const { eraseExpired, sweepService } = await import("@nova/service");
      const { broken } = await sweepService(this.service, { signal: this.#closing.signal });
      for (const { part, error } of broken) {
        process.emitWarning(`the sweeper failed at ${part} and will try again: ${error}`);
      }
      if (this.#closing.signal.aborted) return;
      const [first, ...others] = (await eraseExpired(this.service)).failed;
      if (!first) return;
      const more = others.length > 0 ? ` and ${others.length} more` : "";
      process.emitWarning(`retention failed at ${first.id}${more} and will try again: ${first.reason}`);
    } catch (error) {
      process.emitWarning(`the sweeper failed and will try again: ${error}`);
    }
  }
}
