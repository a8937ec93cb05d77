import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  GetScheduleCommand,
  SchedulerClient,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Clock } from "../../../packages/aws-local/src/clock.ts";
import { openSchedules, type Schedules } from "../../../packages/aws-local/src/schedules/open-schedules.ts";
import { expressions } from "../support/languages.ts";

const credentials = { accessKeyId: "test-key", secretAccessKey: "test" };

/** A clock that only the test moves. It ends sleeps in the order of their times. */
class TestClock implements Clock {
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
      // Lets the code whose sleep has ended run until it starts its next sleep. Before that, the code awaits a few
      // promises.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = Date.parse(time);
  }

  /**
   * Jumps to a time, as if the machine slept or a user set the clock. The remaining time of each sleep stays the same,
   * because the timers of a machine do not advance during such a jump.
   */
  jumpTo(time: string): void {
    const jumpMs = Date.parse(time) - this.#now;
    for (const sleeper of this.#sleepers) sleeper.atMs += jumpMs;
    this.#now += jumpMs;
  }
}

/** EventBridge Scheduler for a test. It can be closed and opened again over the same folder. */
class TestScheduler implements Disposable {
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

const Arn = "arn:aws:lambda:us-east-1:123456789012:function:nova-fire-trigger:live";
const Input = '{"trigger":"nightly","scheduled_at":"<aws.scheduler.scheduled-time>"}';
const usual = {
  Name: "nova-report-nightly",
  GroupName: "nova",
  ScheduleExpression: "cron(0 2 * * ? *)",
  FlexibleTimeWindow: { Mode: "OFF" },
  Target: { Arn, RoleArn: "arn:aws:iam::123456789012:role/nova-schedules", Input },
} satisfies CreateScheduleCommandInput;

let world: TestScheduler;

beforeEach(async () => {
  world = new TestScheduler("2026-11-22T01:00:00Z");
  await world.open();
});

afterEach(async () => {
  await world.close();
  world[Symbol.dispose]();
});

const create = (input: Partial<CreateScheduleCommandInput> = {}) =>
  world.client.send(new CreateScheduleCommand({ ...usual, ...input }));
const at = (time: string) => ({ functionArn: Arn, payload: { trigger: "nightly", scheduled_at: time } });

describe("a schedule that a client creates in the local EventBridge Scheduler", () => {
  it("is returned with the values with which it was created, and can be changed and removed", async () => {
    const { ScheduleArn } = await create({ ScheduleExpressionTimezone: "Europe/Madrid", Description: "At night" });
    expect(ScheduleArn).toBe("arn:aws:scheduler:us-east-1:000000000000:schedule/nova/nova-report-nightly");
    const name = { Name: usual.Name, GroupName: "nova" };
    expect(await world.client.send(new GetScheduleCommand(name))).toMatchObject({
      ...usual,
      ScheduleExpressionTimezone: "Europe/Madrid",
      Description: "At night",
      State: "ENABLED",
      CreationDate: new Date("2026-11-22T01:00:00Z"),
    });
    await world.client.send(new UpdateScheduleCommand({ ...usual, State: "DISABLED" }));
    const changed = await world.client.send(new GetScheduleCommand(name));
    expect(changed).toMatchObject({ State: "DISABLED", ScheduleExpressionTimezone: "UTC" });
    await world.client.send(new DeleteScheduleCommand(name));
    await expect(world.client.send(new GetScheduleCommand(name))).rejects.toThrow(
      `Schedule ${usual.Name} does not exist.`,
    );
    await expect(world.client.send(new DeleteScheduleCommand(name))).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
  });

  it.each<[string, Partial<CreateScheduleCommandInput>, string]>([
    ["a name with a space", { Name: "a b" }, "ValidationException"],
    ["a name of 65 characters", { Name: "a".repeat(65) }, "ValidationException"],
    ["a group that is not there", { GroupName: "other" }, "ResourceNotFoundException"],
    ["a cron of five fields", { ScheduleExpression: "cron(0 2 * * ?)" }, "ValidationException"],
    [
      "a cron that names days of the month and of the week",
      { ScheduleExpression: "cron(0 2 1 * MON *)" },
      "ValidationException",
    ],
    ["a rate of 0 minutes", { ScheduleExpression: "rate(0 minutes)" }, "ValidationException"],
    ["a rate of seconds", { ScheduleExpression: "rate(30 seconds)" }, "ValidationException"],
    ["a day that does not exist", { ScheduleExpression: "at(2026-02-30T00:00:00)" }, "ValidationException"],
    ["a time with a zone", { ScheduleExpression: "at(2026-12-01T00:00:00Z)" }, "ValidationException"],
    ["a time zone that does not exist", { ScheduleExpressionTimezone: "Europe/Atlantis" }, "ValidationException"],
    [
      "a flexible window",
      { FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: 5 } },
      "ValidationException",
    ],
    ["a target that is no function", { Target: { ...usual.Target, Arn: "arn:aws:s3:::b" } }, "ValidationException"],
    ["no role", { Target: { ...usual.Target, RoleArn: "nova" } }, "ValidationException"],
    ["an input that is no JSON", { Target: { ...usual.Target, Input: "{" } }, "ValidationException"],
    [
      "too many retries",
      { Target: { ...usual.Target, RetryPolicy: { MaximumRetryAttempts: 186 } } },
      "ValidationException",
    ],
    ["an end date", { EndDate: new Date() }, "ValidationException"],
  ])("is refused with %s", async (_, input, name) => {
    await expect(create(input)).rejects.toMatchObject({ name });
  });

  it("cannot be created if it exists already, and cannot be changed if it does not exist", async () => {
    await create();
    await expect(create()).rejects.toMatchObject({ name: "ConflictException" });
    const other = world.client.send(new UpdateScheduleCommand({ ...usual, Name: "other" }));
    await expect(other).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });
});

describe("a schedule of the local EventBridge Scheduler", () => {
  it("fires at its times, and passes its due time to the function", async () => {
    await create();
    world.schedules.fire();
    await world.clock.until("2026-11-24T01:59:59Z");
    expect(world.delivered).toEqual([at("2026-11-22T02:00:00Z"), at("2026-11-23T02:00:00Z")]);
    await world.clock.until("2026-11-24T02:00:00Z");
    expect(world.delivered).toHaveLength(3);
  });

  it("does not fire before the schedules are started, while it is disabled, or after it was deleted", async () => {
    await create();
    await world.clock.until("2026-11-22T01:30:00Z");
    world.schedules.fire();
    await world.client.send(new UpdateScheduleCommand({ ...usual, State: "DISABLED" }));
    await world.clock.until("2026-11-23T03:00:00Z");
    await world.client.send(new UpdateScheduleCommand({ ...usual, ScheduleExpression: "cron(0 4 * * ? *)" }));
    await world.clock.until("2026-11-23T05:00:00Z");
    expect(world.delivered).toEqual([at("2026-11-23T04:00:00Z")]);
    await world.client.send(new DeleteScheduleCommand({ Name: usual.Name, GroupName: "nova" }));
    await world.clock.until("2026-11-25T05:00:00Z");
    expect(world.delivered).toHaveLength(1);
  });

  it("with a rate fires immediately and then at its interval, even after an update without changes", async () => {
    world.schedules.fire();
    const rate = { ...usual, ScheduleExpression: "rate(10 minutes)" };
    await create(rate);
    await world.clock.until("2026-11-22T01:15:00Z");
    await world.client.send(new UpdateScheduleCommand(rate));
    await world.clock.until("2026-11-22T01:20:00Z");
    const times = ["2026-11-22T01:00:00Z", "2026-11-22T01:10:00Z", "2026-11-22T01:20:00Z"];
    expect(world.delivered).toEqual(times.map(at));
  });

  it("first fires at its StartDate", async () => {
    world.schedules.fire();
    const StartDate = new Date("2026-11-22T01:10:30Z");
    await create({ ScheduleExpression: "rate(10 minutes)", StartDate });
    await create({ Name: "cron", ScheduleExpression: "cron(0/5 * * * ? *)", StartDate });
    await world.clock.until("2026-11-22T01:21:00Z");
    const times = ["01:10:30", "01:15:00", "01:20:00", "01:20:30"];
    expect(world.delivered).toEqual(times.map((time) => at(`2026-11-22T${time}Z`)));
  });

  it("with an `at` expression fires once, at that time in its time zone", async () => {
    await create({ ScheduleExpression: "at(2026-12-24T18:00:30)", ScheduleExpressionTimezone: "Europe/Madrid" });
    world.schedules.fire();
    await world.clock.until("2027-12-25T00:00:00Z");
    expect(world.delivered).toEqual([at("2026-12-24T17:00:30Z")]);
  });

  it("writes its event to a file if no attempt to deliver it succeeds", async () => {
    world.takes = false;
    const warned = vi.spyOn(process, "emitWarning").mockReturnValue(undefined);
    await create({ ScheduleExpression: "rate(1 day)" });
    world.schedules.fire();
    await world.schedules.rest();
    warned.mockRestore();
    const line = JSON.parse(readFileSync(join(world.dataDir, "schedules", "undelivered.ndjson"), "utf8"));
    expect(line).toMatchObject({ functionArn: Arn, at: "2026-11-22T01:00:00.000Z" });
  });
});

describe("a due time that passed while no process ran the schedule", () => {
  /** Runs the schedules until 01:30, closes the scheduler, and opens it again at another time. */
  async function reopenedAt(time: string): Promise<void> {
    world.schedules.fire();
    await world.clock.until("2026-11-22T01:30:00Z");
    await world.close();
    world.clock = new TestClock(time);
    await world.open();
    world.schedules.fire();
    await world.schedules.rest();
  }

  it("is skipped with a warning if it was more than a minute ago", async () => {
    await create({ Description: "Trigger nightly of workflow report" });
    await reopenedAt("2026-11-25T08:00:00Z");
    expect(world.delivered).toEqual([]);
    expect(world.warnings).toEqual([
      "Trigger nightly of workflow report was due 4 times from 2026-11-22T02:00:00.000Z until 2026-11-25T02:00:00.000Z while nothing ran here, or this machine slept: those times are left out",
    ]);
  });

  it("makes the schedule fire if it was less than a minute ago", async () => {
    await create();
    await reopenedAt("2026-11-22T02:00:59Z");
    expect(world.delivered).toEqual([at("2026-11-22T02:00:00Z")]);
    expect(world.warnings).toEqual([]);
  });
});

describe("a jump of the computer's clock", () => {
  it("forward skips the due times in between with a warning, and schedules fire at later times", async () => {
    await create({ ScheduleExpression: "rate(1 hour)", Description: "hourly" });
    world.schedules.fire();
    await world.clock.until("2026-11-22T01:30:00Z");
    world.clock.jumpTo("2026-11-22T04:30:00Z");
    await world.clock.until("2026-11-22T05:00:00Z");
    expect(world.delivered).toEqual([at("2026-11-22T01:00:00Z"), at("2026-11-22T05:00:00Z")]);
    expect(world.warnings).toEqual([
      expect.stringMatching(
        /^hourly was due 3 times from 2026-11-22T02:00:00.000Z until 2026-11-22T04:00:00.000Z while /,
      ),
    ]);
  });

  it("backwards makes every repeating schedule that has started continue from the new time", async () => {
    await create({ ScheduleExpression: "rate(1 hour)", Description: "hourly" });
    await create({ Name: "once", ScheduleExpression: "at(2026-11-22T01:15:00)" });
    world.schedules.fire();
    await world.clock.until("2026-11-22T01:30:00Z");
    world.clock.jumpTo("2026-11-21T22:30:00Z");
    await world.clock.until("2026-11-22T00:00:00Z");
    // The scheduler notices the jump back at its next check of the clock, at 22:40, and continues from then.
    const fired = ["2026-11-22T01:00:00Z", "2026-11-22T01:15:00Z", "2026-11-21T23:40:00Z"];
    expect(world.delivered).toEqual(fired.map(at));
    expect(world.warnings).toEqual([expect.stringMatching(/^hourly had fired until .* it goes on from now$/)]);
  });
});
