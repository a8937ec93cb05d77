import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import type { Clock } from "../../../../packages/aws-local/src/clock.ts";
import { openSchedules, type Schedules } from "../../../../packages/aws-local/src/schedules/open-schedules.ts";
import { expressions } from "../../support/languages.ts";

const credentials = { accessKeyId: "test-key", secretAccessKey: "test" };

/** A clock that only the test moves. It ends sleeps in the order of their times. */
export class TestClock implements Clock {
  #now: number;
  readonly #sleepers = new Set<{ atMs: number; wake: () => void }>();

  constructor(now: string) {
    this.#now = Date.parse(now);
  }

  readonly maxNapMs = 600_000;
  now = (): number => this.#now;
  random = (): number => 0;

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper);
        resolve();
      };
      const sleeper = { atMs: this.#now + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  async until(time: string): Promise<void> {
    for (;;) {
      const [next] = [...this.#sleepers].sort((a, b) => a.atMs - b.atMs);
      if (!next || next.atMs > Date.parse(time)) break;
      this.#now = next.atMs;
      next.wake();
      // Waits until the code whose sleep has ended has set its next alarm. The code first awaits a few promises.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = Date.parse(time);
  }

  /**
   * Jumps to a time, as if the machine slept or a user set the clock. Sleeps do not end earlier, because timers stand
   * still meanwhile.
   */
  jumpTo(time: string): void {
    const jumpMs = Date.parse(time) - this.#now;
    for (const sleeper of this.#sleepers) sleeper.atMs += jumpMs;
    this.#now += jumpMs;
  }
}

/** EventBridge Scheduler for a test. It can be closed and opened again over the same folder. */
export class TestScheduler implements Disposable {
  readonly dataDir = mkdtempSync(join(tmpdir(), "nova-schedules-"));
  /** All deliveries so far: the function and the payload. */
  readonly delivered: { functionArn: string; payload: unknown }[] = [];
  readonly warnings: string[] = [];
  takes = true;
  clock: TestClock;
  client!: SchedulerClient;
  schedules!: Schedules;

  constructor(now: string) {
    this.clock = new TestClock(now);
  }

  async open(): Promise<void> {
    this.schedules = await openSchedules({
      dataDir: this.dataDir,
      ...credentials,
      clock: this.clock,
      expressions,
      groups: ["nova"],
      invoke: async (functionArn, payload) => {
        this.delivered.push({ functionArn, payload: JSON.parse(payload) });
        return this.takes;
      },
      warn: (sentence) => this.warnings.push(sentence),
    });
    this.client = new SchedulerClient({ region: "us-east-1", endpoint: this.schedules.url, credentials });
  }

  async close(): Promise<void> {
    await this.schedules.rest();
    await this.schedules.close();
    this.client.destroy();
  }

  [Symbol.dispose](): void {
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
