import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import { NovaError, type SandboxSpec } from "@nova/engine";
import { LRUCache } from "lru-cache";
import { isConnectionFailure, isGone } from "./failures.ts";

const loadSdk = () => import("@e2b/code-interpreter");

/**
 * Starts to load E2B's SDK, which takes a fifth of a second. A process that will run nodes calls this when it starts.
 * Other processes load the SDK at their first call of E2B, which most of them never make.
 */
export function preloadSdk(): void {
  loadSdk().catch(() => undefined); // The first call of E2B reports a failure.
}

/** Limit of kept connections. A kept connection saves the call that fetches the sandbox's tokens. */
const maxKept = 200;

/** Calls E2B's control plane and keeps the connections of this process to sandboxes. */
export class Connections {
  readonly #breaker = new Breaker();
  readonly #unused = new LRUCache<string, true>({ max: maxKept });
  readonly #kept = new LRUCache<string, Promise<E2bSandbox>>({ max: maxKept });

  async create(spec: SandboxSpec): Promise<E2bSandbox> {
    const { template, lifetimeSeconds, execution, scope, light, internet, reach } = spec;
    const { Sandbox, ALL_TRAFFIC } = await loadSdk();
    const sandbox = await this.#breaker.guard(() =>
      Sandbox.create(template, {
        timeoutMs: lifetimeSeconds * 1000,
        metadata: { execution, scope, nova: "1", ...(light && { packages: "none" }) },
        allowInternetAccess: internet,
        network: { allowPublicTraffic: false, ...(reach && { allowOut: reach, denyOut: [ALL_TRAFFIC] }) },
      }),
    );
    this.#kept.set(sandbox.sandboxId, Promise.resolve(sandbox));
    if (spec.pool !== undefined) this.#unused.set(sandbox.sandboxId, true);
    return sandbox;
  }

  /**
   * Returns true at the first call for a new warm sandbox. The first cell of such a sandbox must contain no input: the
   * harness starts in that cell, and keeps the text of the cell in memory.
   */
  isFirstUse(id: string): boolean {
    return this.#unused.delete(id);
  }

  /**
   * Returns the kept connection or a new connection. A new connection also extends the sandbox's life to
   * `lifetimeSeconds`.
   */
  get(id: string, lifetimeSeconds: number): Promise<E2bSandbox> {
    return this.#kept.get(id) ?? this.connect(id, lifetimeSeconds);
  }

  /**
   * Connects, and extends the sandbox's life if it would end earlier. E2B silently grants a shorter life if the plan
   * allows no more.
   */
  async connect(id: string, lifetimeSeconds: number): Promise<E2bSandbox> {
    const { Sandbox } = await loadSdk();
    const connecting = this.#breaker.guard(() => Sandbox.connect(id, { timeoutMs: lifetimeSeconds * 1000 }));
    this.#kept.set(id, connecting);
    connecting.catch(() => this.forget(id));
    return connecting;
  }

  /** Makes the sandbox end `seconds` from now, even if it would otherwise live longer. */
  async setTimeout(id: string, seconds: number): Promise<void> {
    const { Sandbox } = await loadSdk();
    await this.#breaker.guard(() => Sandbox.setTimeout(id, seconds * 1000));
  }

  /** Returns true only if the control plane reports the sandbox as missing. Returns false if the call fails. */
  async isGone(id: string): Promise<boolean> {
    const { Sandbox } = await loadSdk();
    return Sandbox.getInfo(id).then(() => false, isGone);
  }

  forget(id: string): void {
    this.#kept.delete(id);
  }

  async kill(id: string): Promise<void> {
    const { Sandbox } = await loadSdk();
    this.forget(id);
    await this.#breaker.guard(() => Sandbox.kill(id));
  }

  async ids(metadata: Record<string, string>): Promise<string[]> {
    const { Sandbox } = await loadSdk();
    const pages = Sandbox.list({ query: { metadata: { ...metadata, nova: "1" } } });
    const ids: string[] = [];
    while (pages.hasNext) {
      const page = await this.#breaker.guard(() => pages.nextItems());
      ids.push(...page.map(({ sandboxId }) => sandboxId));
    }
    return ids;
  }
}

const toleratedFailures = 5;
const openMs = 5_000;

/**
 * Limits calls while E2B is unreachable: after several connection failures in a row, calls fail immediately for some
 * seconds. Any answer of E2B, including a refusal, resets the count.
 */
export class Breaker {
  #failures = 0;
  #openUntil = 0;
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async guard<T>(call: () => Promise<T>): Promise<T> {
    if (this.#now() < this.#openUntil)
      throw new NovaError("SandboxUnavailable", "E2B cannot be reached - check the network and E2B's status page");
    try {
      const answer = await call();
      this.#failures = 0;
      return answer;
    } catch (error) {
      this.#count(error);
      throw error;
    }
  }

  #count(error: unknown): void {
    this.#failures = isConnectionFailure(error) ? this.#failures + 1 : 0;
    if (this.#failures >= toleratedFailures) this.#openUntil = this.#now() + openMs;
  }
}
