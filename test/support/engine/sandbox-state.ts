import type { BlobRef, Claim, CodeResult, RunningLog, RunRequest, Sandbox } from "@nova/engine";
import type { VirtualClock } from "./clock.ts";
import type { Process } from "./scheduler.ts";

/** A run of code inside a sandbox, from its claim on. */
export interface Run {
  box: Box;
  claim: Claim;
  request: RunRequest;
  state: "claimed" | "running" | "finished" | "dead";
  result?: CodeResult;
  /** Large results: files that stay while the sandbox lives. */
  files: { ref: BlobRef; body: Uint8Array }[];
  /** Nothing that it says can be believed. */
  isMalformed?: true | undefined;
  /** A blob it waits for. */
  need?: BlobRef | undefined;
}

export interface Box extends Sandbox {
  execution: string;
  scope: string;
  killed: boolean;
  runs: Map<string, Run>;
  tombstones: Set<string>;
  /** Claims that some delivery may have brought to the default context. */
  defaultContexts: Set<string>;
  processes: Process[];
  /** Whose code it runs now, and ran before. */
  tenants: string[];
}

/** What is inside the sandboxes, and what E2B's control plane knows. */
export class SandboxState {
  readonly boxes = new Map<string, Box>();
  /** Executions whose sandboxes were all killed; what is made later dies by its lifetime. */
  readonly cleared = new Set<string>();
  /** What running code has printed, by link. */
  readonly logs = new Map<string, RunningLog>();
  /** No sandbox can be extended beyond this, counted from its creation. */
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

  /** Whoever may use it after this knows when it ends. */
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

  /** Code that is going on somewhere. */
  running(): Run[] {
    return this.alive().flatMap(({ runs }) => Array.from(runs.values()).filter(({ state }) => state === "running"));
  }
}

export function claimName({ link, step, attempt }: Claim): string {
  return `${link}.${step}.${attempt}`;
}
