import { setTimeout as sleep } from "node:timers/promises";
import { isFull, isOutage } from "./outage.ts";
import { delayMs, maxAttempts } from "./retries.ts";

/**
 * Repeats what the SDK cannot: a request whose body is a stream. `send` makes a new body each time. Errors with a name
 * in `also` pass by themselves too.
 */
export async function patiently<T>(send: () => Promise<T>, also: readonly string[] = []): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const passes = (isOutage(error) && !isFull(error)) || (error instanceof Error && also.includes(error.name));
      if (!passes || attempt >= maxAttempts) throw error;
      await sleep(delayMs(attempt));
    }
  }
}
