import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import type { Clock } from "../../../../packages/aws-local/src/clock.ts";
import { openSchedules, type Schedules } from "../../../../packages/aws-local/src/schedules/open-schedules.ts";
import { expressions } from "../../support/languages.ts";

const credentials = { accessKeyId: "test-key", secretAccessKey: "test" };

/** A clock that the test moves. It wakes sleepers in the right order. */
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
      // A woken sleeper sets its next alarm after a few promises.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = Date.parse(time);
  }

  /** Jumps to a time, as if the machine slept or a user set the clock: the sleepers' remaining time stays the same. */
  jumpTo(time: string): void {
    const jumpMs = Date.parse(time) - this.#now;
    for (const sleeper of this.#sleepers) sleeper.atMs += jumpMs;
    this.#now += jumpMs;
  }
}

/** EventBridge Scheduler over a folder that outlives it. */
export class TestScheduler implements Disposable {
  readonly dataDir = mkdtempSync(join(tmpdir(), "nova-schedules-"));
  /** The deliveries: function and payload. */
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
