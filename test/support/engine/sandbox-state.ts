import type { BlobRef, Claim, CodeResult, RunningLog, RunRequest, Sandbox } from "@nova/engine";
import type { VirtualClock } from "./clock.ts";
import type { Process } from "./scheduler.ts";

/**
 * A run of code inside a sandbox. It exists as soon as a program in the sandbox has claimed the right to run the code.
 */
export interface Run {
  box: Box;
  claim: Claim;
  request: RunRequest;
  state: "claimed" | "running" | "finished" | "dead";
  result?: CodeResult;
  /** Large results. They exist as files while the sandbox lives. */
  files: { ref: BlobRef; body: Uint8Array }[];
  /** Set if the sandbox answers requests about this code with malformed data. */
  isMalformed?: true | undefined;
  /** The blob that the code waits for. */
  need?: BlobRef | undefined;
}

export interface Box extends Sandbox {
  execution: string;
  scope: string;
  killed: boolean;
  runs: Map<string, Run>;
  tombstones: Set<string>;
  /**
   * Names of claims whose code was started in the default kernel context of the sandbox. Only one delivery per claim
   * may start the code there.
   */
  defaultContexts: Set<string>;
  processes: Process[];
  /** Executions whose code has run in the sandbox, in order. Only code of the last execution may still run. */
  tenants: string[];
}

/** The contents of the sandboxes and the state of E2B's control plane. */
export class SandboxState {
  readonly boxes = new Map<string, Box>();
  /**
   * Executions whose sandboxes were all killed. A sandbox that is created for one of them afterwards ends with its
   * lifetime.
   */
  readonly cleared = new Set<string>();
  /** The output of running code, by the name of its entry. */
  readonly logs = new Map<string, RunningLog>();
  /** The longest time that a sandbox may exist. */
  planLimitMs = 20 * 60_000;
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  create(execution: string, scope: string, lifetimeSeconds: number): Sandbox {
    const id = `S${this.boxes.size + 1}`;
    const createdAt = this.#clock.iso();
    const endsAt = this.#clock.iso(this.#clock.now + lifetimeSeconds * 1000);
    this.boxes.set(id, {
      id,
      createdAt,
      endsAt,
      execution,
      scope,
      killed: false,
      runs: new Map(),
      tombstones: new Set(),
      defaultContexts: new Set(),
      processes: [],
      tenants: [],
    });
    return { id, createdAt, endsAt };
  }

  box(id: string): Box {
    const box = this.boxes.get(id);
    if (!box) throw new RangeError(`there never was a sandbox ${id}`);
    return box;
  }

  isAlive(id: string): boolean {
    const box = this.box(id);
    if (!box.killed && Date.parse(box.endsAt) <= this.#clock.now) this.kill(id);
    return !box.killed;
  }

  alive(): Box[] {
    return Array.from(this.boxes.values()).filter(({ id }) => this.isAlive(id));
  }

  kill(id: string): void {
    const box = this.box(id);
    box.killed = true;
    for (const process of box.processes) process.kill();
    for (const run of box.runs.values()) if (run.state !== "finished") run.state = "dead";
  }

  killAll(execution: string, except?: ReadonlySet<string>): void {
    for (const box of this.boxes.values()) if (box.execution === execution && !except?.has(box.id)) this.kill(box.id);
    this.cleared.add(execution);
  }

  /** Sets the time after which an idle sandbox ends. Returns the time of its end; null if it has already ended. */
  rest(id: string, seconds: number): string | null {
    if (!this.isAlive(id)) return null;
    const box = this.box(id);
    box.endsAt = this.#clock.iso(this.#clock.now + seconds * 1000);
    return box.endsAt;
  }

  extend(id: string, lifetimeSeconds: number): Sandbox | null {
    const box = this.box(id);
    const end = this.#clock.now + lifetimeSeconds * 1000;
    if (!this.isAlive(id) || end > Date.parse(box.createdAt) + this.planLimitMs) return null;
    box.endsAt = this.#clock.iso(Math.max(end, Date.parse(box.endsAt)));
    return { id, createdAt: box.createdAt, endsAt: box.endsAt };
  }

  /** Returns all runs of code that have not ended. */
  running(): Run[] {
    return this.alive().flatMap(({ runs }) => Array.from(runs.values()).filter(({ state }) => state === "running"));
  }
}

export function claimName({ link, step, attempt }: Claim): string {
  return `${link}.${step}.${attempt}`;
}
