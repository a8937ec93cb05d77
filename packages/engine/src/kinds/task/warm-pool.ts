import type { Sandbox } from "../../ports/sandboxes.ts";

/**
 * Sandboxes of scopes that have ended, for scopes of the same execution that begin: a map of a thousand items needs a
 * handful. Lives in the memory of one Lambda process; whatever is forgotten dies by its lifetime, or with its execution.
 */
export class SandboxPool {
  readonly #idle = new Map<string, Sandbox[]>();

  /** Only by the delivery that wrote the scope's last entry: nobody else can offer it, and nothing runs in it. */
  offer(execution: string, sandbox: Sandbox): void {
    const others = (this.#idle.get(execution) ?? []).filter(({ id }) => id !== sandbox.id);
    this.#idle.set(execution, [...others, sandbox]);
  }

  /** The one that was used last: it lives longest. */
  take(execution: string): Sandbox | undefined {
    const idle = this.#idle.get(execution);
    const sandbox = idle?.pop();
    if (idle?.length === 0) this.#idle.delete(execution);
    return sandbox;
  }

  forget(execution: string): void {
    this.#idle.delete(execution);
  }

  /** Sandboxes whose time is over; their executions may have been closed elsewhere. */
  forgetDead(nowMs: number): void {
    for (const [execution, idle] of this.#idle) {
      const alive = idle.filter(({ endsAt }) => Date.parse(endsAt) > nowMs);
      if (alive.length > 0) this.#idle.set(execution, alive);
      else this.#idle.delete(execution);
    }
  }
}
