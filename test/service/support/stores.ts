import type { Attempt, AttemptStore } from "@nova/service";

/** Attempts in memory, as strict as the table. */
export class MemoryAttempts implements AttemptStore {
  readonly kept = new Map<string, Attempt>();

  async begin(attempt: Attempt, now: number): Promise<Attempt | undefined> {
    const there = this.kept.get(nameOf(attempt));
    if (there && there.expiresAt >= now / 1000) return there;
    this.kept.set(nameOf(attempt), attempt);
    return undefined;
  }

  async takeOver(name: Pick<Attempt, "principal" | "key">, since: string, now: string): Promise<boolean> {
    const there = this.kept.get(nameOf(name));
    if (there?.since !== since || there.made !== undefined) return false;
    this.kept.set(nameOf(name), { ...there, since: now });
    return true;
  }

  async finish(name: Pick<Attempt, "principal" | "key">, made: string): Promise<void> {
    this.#change(name, { made });
  }

  async release(name: Pick<Attempt, "principal" | "key">): Promise<void> {
    this.#change(name, { since: new Date(0).toISOString() });
  }

  #change(name: Pick<Attempt, "principal" | "key">, changes: Partial<Attempt>): void {
    const there = this.kept.get(nameOf(name));
    if (there) this.kept.set(nameOf(name), { ...there, ...changes });
  }
}

function nameOf({ principal, key }: Pick<Attempt, "principal" | "key">): string {
  return `${principal} ${key}`;
}
