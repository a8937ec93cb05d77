import type { Clock, Timer } from "@nova/engine";

export const clock: Clock = { now: () => Date.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };

export const timer: Timer = { timeout: (ms) => AbortSignal.timeout(ms) };
