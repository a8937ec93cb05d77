import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { SandboxSpec } from "@nova/engine";
import { LRUCache } from "lru-cache";
import { Breaker } from "./breaker.ts";
import { isGone } from "./failures.ts";

/** Loading it takes a fifth of a second: it starts at once, and nobody waits for it before the first call. */
const loadSdk = () => import("@e2b/code-interpreter");

/** Connected sandboxes that one Lambda keeps between nodes; each saves the call that fetches its tokens. */
const maxKept = 200;

/** E2B's control plane, and what this process knows about sandboxes that it has been connected to. */
export class Connections {
  readonly #sdk = loadSdk();
  readonly #breaker = new Breaker();
  readonly #unused = new LRUCache<string, true>({ max: maxKept });
  readonly #kept = new LRUCache<string, Promise<E2bSandbox>>({ max: maxKept });

  constructor() {
    this.#sdk.catch(() => undefined); // whoever awaits it sees why
  }

  async create(spec: SandboxSpec): Promise<E2bSandbox> {
    const { template, lifetimeSeconds, execution, scope, light, internet, reach } = spec;
    const { Sandbox, ALL_TRAFFIC } = await this.#sdk;
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

  /** True once, of a sandbox of a pool: its first cell starts the harness, which keeps what is in that cell. */
  isFirstUse(id: string): boolean {
    return this.#unused.delete(id);
  }

  /** The kept connection, or a new one; a new one also sees to it that the sandbox lives this long. */
  get(id: string, lifetimeSeconds: number): Promise<E2bSandbox> {
    return this.#kept.get(id) ?? this.connect(id, lifetimeSeconds);
  }

  /** Extends the sandbox's life where it would end earlier; E2B cuts down in silence what the plan does not allow. */
  async connect(id: string, lifetimeSeconds: number): Promise<E2bSandbox> {
    const { Sandbox } = await this.#sdk;
    const connecting = this.#breaker.guard(() => Sandbox.connect(id, { timeoutMs: lifetimeSeconds * 1000 }));
    this.#kept.set(id, connecting);
    connecting.catch(() => this.forget(id));
    return connecting;
  }

  /** From now on, whether it would have lived for longer or not. */
  async setTimeout(id: string, seconds: number): Promise<void> {
    const { Sandbox } = await this.#sdk;
    await this.#breaker.guard(() => Sandbox.setTimeout(id, seconds * 1000));
  }

  /** True only when the control plane says so; a call that fails says nothing. */
  async isGone(id: string): Promise<boolean> {
    const { Sandbox } = await this.#sdk;
    return Sandbox.getInfo(id).then(() => false, isGone);
  }

  forget(id: string): void {
    this.#kept.delete(id);
  }

  async kill(id: string): Promise<void> {
    const { Sandbox } = await this.#sdk;
    this.forget(id);
    await this.#breaker.guard(() => Sandbox.kill(id));
  }

  /** Of NOVA's sandboxes, those with these metadata. */
  async ids(metadata: Record<string, string>): Promise<string[]> {
    const { Sandbox } = await this.#sdk;
    const pages = Sandbox.list({ query: { metadata: { ...metadata, nova: "1" } } });
    const ids: string[] = [];
    while (pages.hasNext) {
      const page = await this.#breaker.guard(() => pages.nextItems());
      ids.push(...page.map(({ sandboxId }) => sandboxId));
    }
    return ids;
  }
}
