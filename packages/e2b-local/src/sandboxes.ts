import { randomBytes } from "node:crypto";
import { Refusal, unknownSandbox } from "./http.ts";
import type { Python } from "./python.ts";
import type { Lifeline } from "./zygote.ts";
import type { Zygotes } from "./zygotes.ts";

/** The limits of one of E2B's plans. A limit that is absent does not apply. */
export type Limits = { createsPerSecond?: number; concurrent?: number; lifetimeSeconds?: number };

/** The limits that E2B's site listed on 2026-11-21. */
export const e2bPlans = {
  none: {},
  hobby: { createsPerSecond: 1, concurrent: 20, lifetimeSeconds: 3_600 },
  pro: { createsPerSecond: 5, concurrent: 100, lifetimeSeconds: 86_400 },
} satisfies Record<string, Limits>;

export type E2bPlan = keyof typeof e2bPlans;

export type NewSandbox = {
  templateID: string;
  timeoutSeconds: number;
  metadata: Record<string, string>;
  internet: boolean;
  network: Record<string, unknown> | undefined;
};

export type Sandbox = NewSandbox & {
  id: string;
  startedAt: Date;
  endAt: Date;
  envdAccessToken: string;
  trafficAccessToken: string | undefined;
  lifeline: Lifeline;
  timer: NodeJS.Timeout | undefined;
};

/**
 * The longest delay of a Node timer, 24 days. A longer one would fire immediately. Sandboxes with a longer lifetime end
 * after this time.
 */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * When a full disk has space again, clients get this number of seconds to fetch results from sandboxes whose time is
 * over.
 */
const secondsAfterFullDisk = 60;

/** The disk on which clients store the results of sandboxes. */
export interface ResultsDisk {
  /** Whether the disk is full, and its owner waits for space. */
  readonly isWaiting: boolean;
  /** Resolves when the disk takes writes again. */
  untilSpace(): Promise<void>;
}

/** All sandboxes of this server, with their lifetimes and the limits of the plan. */
export class Sandboxes {
  #zygotes: Zygotes;
  #limits: Limits;
  #sitesOf: (templateID: string, python: Python) => string[];
  #byId = new Map<string, Sandbox>();
  #disk: ResultsDisk | undefined;
  #recentCreates: number[] = [];
  #creating = 0;

  constructor(
    zygotes: Zygotes,
    limits: Limits,
    sitesOf: (templateID: string, python: Python) => string[],
    disk?: ResultsDisk,
  ) {
    this.#zygotes = zygotes;
    this.#limits = limits;
    this.#sitesOf = sitesOf;
    this.#disk = disk;
  }

  all(): Sandbox[] {
    return [...this.#byId.values()];
  }

  find(id: string): Sandbox | undefined {
    return this.#byId.get(id);
  }

  get(id: string): Sandbox {
    const sandbox = this.#byId.get(id);
    if (!sandbox) throw unknownSandbox(id);
    return sandbox;
  }

  async create(wanted: NewSandbox): Promise<Sandbox> {
    this.#requireAllowedLifetime(wanted.timeoutSeconds);
    this.#requireRate();
    this.#requireConcurrency();
    this.#creating++;
    try {
      const zygote = await this.#zygotes.withSites((python) => this.#sitesOf(wanted.templateID, python));
      const id = `i${randomBytes(10).toString("hex")}`;
      const own = { E2B_SANDBOX: "true", E2B_SANDBOX_ID: id, E2B_TEMPLATE_ID: wanted.templateID };
      const isLight = wanted.metadata.packages === "none";
      const lifeline = await zygote.createSandbox(own, { internet: wanted.internet, isLight });
      return this.#register(id, wanted, lifeline);
    } finally {
      this.#creating--;
    }
  }

  #register(id: string, wanted: NewSandbox, lifeline: Lifeline): Sandbox {
    const startedAt = new Date();
    const isPublic = wanted.network?.allowPublicTraffic !== false;
    const sandbox: Sandbox = {
      ...wanted,
      id,
      startedAt,
      endAt: startedAt,
      lifeline,
      envdAccessToken: token(),
      trafficAccessToken: isPublic ? undefined : token(),
      timer: undefined,
    };
    this.#byId.set(sandbox.id, sandbox);
    this.#endAfter(sandbox, wanted.timeoutSeconds, startedAt.getTime());
    lifeline.ended.then(() => this.#forget(sandbox));
    return sandbox;
  }

  /**
   * Connects a client to a sandbox. The sandbox then lives for at least `timeoutSeconds` from now on. Its end never
   * moves to an earlier time.
   */
  connect(id: string, timeoutSeconds: number): Sandbox {
    const sandbox = this.get(id);
    this.#requireAllowedLifetime(timeoutSeconds);
    if (Date.now() + timeoutSeconds * 1000 > sandbox.endAt.getTime()) this.#endAfter(sandbox, timeoutSeconds);
    return sandbox;
  }

  setTimeout(id: string, timeoutSeconds: number): void {
    this.#endAfter(this.get(id), timeoutSeconds);
  }

  async kill(id: string): Promise<void> {
    const sandbox = this.get(id);
    this.#forget(sandbox);
    await sandbox.lifeline.kill();
  }

  async killAll(): Promise<void> {
    await Promise.all(this.all().map((sandbox) => this.kill(sandbox.id)));
  }

  #forget(sandbox: Sandbox): void {
    clearTimeout(sandbox.timer);
    this.#byId.delete(sandbox.id);
  }

  /**
   * Sets the time at which a sandbox ends. A time beyond the plan's limit becomes the limit, without an error, as on
   * E2B.
   */
  #endAfter(sandbox: Sandbox, seconds: number, from = Date.now()): void {
    const { lifetimeSeconds = Number.POSITIVE_INFINITY } = this.#limits;
    const latest = sandbox.startedAt.getTime() + lifetimeSeconds * 1000;
    sandbox.endAt = new Date(Math.min(from + seconds * 1000, latest));
    clearTimeout(sandbox.timer);
    const delayMs = Math.min(Math.max(0, sandbox.endAt.getTime() - Date.now()), MAX_TIMER_MS);
    sandbox.timer = setTimeout(() => this.#expire(sandbox), delayMs).unref();
  }

  /**
   * Ends a sandbox whose time is over. While the disk is full it waits, because the client cannot store results of the
   * sandbox.
   */
  #expire(sandbox: Sandbox): void {
    if (this.#disk?.isWaiting) {
      this.#disk.untilSpace().then(() => this.#endAfter(sandbox, secondsAfterFullDisk));
      return;
    }
    this.kill(sandbox.id).catch(() => this.#forget(sandbox));
  }

  #requireAllowedLifetime(seconds: number): void {
    const { lifetimeSeconds } = this.#limits;
    if (lifetimeSeconds !== undefined && seconds > lifetimeSeconds) {
      throw new Refusal(400, `Timeout cannot be greater than ${lifetimeSeconds / 3600} hours`);
    }
  }

  #requireRate(): void {
    const { createsPerSecond } = this.#limits;
    if (createsPerSecond === undefined) return;
    const now = performance.now();
    this.#recentCreates = this.#recentCreates.filter((at) => now - at < 1000);
    if (this.#recentCreates.length >= createsPerSecond) {
      throw new Refusal(429, "Rate limit exceeded", {}, { "retry-after": "1" });
    }
    this.#recentCreates.push(now);
  }

  #requireConcurrency(): void {
    const { concurrent } = this.#limits;
    const running = this.#byId.size;
    if (concurrent !== undefined && running + this.#creating >= concurrent) {
      throw new Refusal(
        429,
        `you have reached the maximum number of concurrent E2B sandboxes (${concurrent}). If you need more, please visit 'https://e2b.dev/docs/billing'`,
      );
    }
  }
}

function token(): string {
  return randomBytes(32).toString("hex");
}
