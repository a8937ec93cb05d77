import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DeleteRuleCommand,
  EventBridgeClient,
  PutEventsCommand,
  type PutEventsRequestEntry,
  PutRuleCommand,
  type PutRuleCommandInput,
  PutTargetsCommand,
  RemoveTargetsCommand,
  type Target,
} from "@aws-sdk/client-eventbridge";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Events, openEvents } from "../../../packages/aws-local/src/events/open-events.ts";
import { patterns } from "../support/languages.ts";
import { signedFetch } from "../support/signed.ts";

const credentials = { accessKeyId: "test-key", secretAccessKey: "test" };
const functionOf = (name: string) => `arn:aws:lambda:us-east-1:123456789012:function:${name}:live`;

const standing = functionOf("nova-deliver-event");
const inTurn = functionOf("nova-publish");
const target = functionOf("nova-fire-trigger");

/** EventBridge for a test. It can be closed and opened again over the same folder. */
class TestEvents implements Disposable {
  readonly dataDir = mkdtempSync(join(tmpdir(), "nova-events-"));
  /** All deliveries so far: the function, and the payload as text. */
  readonly delivered: { functionArn: string; payload: string }[] = [];
  /**
   * Decides whether the Lambda function succeeds that receives an event. If the result is a promise, the Lambda
   * function runs until the promise resolves.
   */
  takes: () => boolean | Promise<boolean> = () => true;
  client!: EventBridgeClient;
  events!: Events;

  async open(): Promise<void> {
    this.events = await openEvents({
      dataDir: this.dataDir,
      ...credentials,
      now: () => Date.parse("2026-11-22T08:00:00.500Z"),
      patterns,
      customBus: "nova",
      standing: [
        { pattern: { source: [{ "anything-but": ["nova"] }] }, functionArn: standing },
        { pattern: { source: ["nova"] }, functionArn: inTurn, inTurn: true },
      ],
      invoke: async (functionArn, payload) => {
        this.delivered.push({ functionArn, payload });
        return this.takes();
      },
    });
    this.client = new EventBridgeClient({ region: "us-east-1", endpoint: this.events.url, credentials });
  }

  async close(): Promise<void> {
    await this.events.close();
    this.client.destroy();
  }

  [Symbol.dispose](): void {
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

let world: TestEvents;

beforeEach(async () => {
  world = new TestEvents();
  await world.open();
  world.events.deliveries.drive();
});

afterEach(async () => {
  await world.close();
  world[Symbol.dispose]();
});

const paid = { EventBusName: "nova", Source: "shop", DetailType: "Paid", Detail: '{"id": 12345678901234567890}' };
const put = (...Entries: PutEventsRequestEntry[]) => world.client.send(new PutEventsCommand({ Entries }));
const rule = (input: Partial<PutRuleCommandInput> = {}) =>
  world.client.send(new PutRuleCommand({ ...usual, ...input }));
const usual = { Name: "paid", EventBusName: "nova", EventPattern: '{"source":["shop"]}' };
const InputTemplate = '{"workflow":"pay","event":<aws.events.event.json>}';
const targets = (...Targets: Target[]) =>
  world.client.send(new PutTargetsCommand({ Rule: "paid", EventBusName: "nova", Targets }));
const fire: Target = { Id: "fire", Arn: target, InputTransformer: { InputTemplate } };

describe("an event that is put on a local bus", () => {
  it("reaches the function of a deployed rule in EventBridge's envelope, with exact numbers", async () => {
    const { Entries, FailedEntryCount } = await put(paid);
    await world.events.deliveries.rest();
    expect(FailedEntryCount).toBe(0);
    const [{ functionArn, payload }] = world.delivered as [(typeof world.delivered)[number]];
    expect(functionArn).toBe(standing);
    expect(payload).toContain('"detail":{"id": 12345678901234567890}');
    expect(JSON.parse(payload)).toMatchObject({
      version: "0",
      id: Entries?.[0]?.EventId,
      "detail-type": "Paid",
      source: "shop",
      account: "000000000000",
      time: "2026-11-22T08:00:00Z",
      region: "us-east-1",
      resources: [],
    });
  });

  it("reaches each target of a matching rule, in the form of the target's template", async () => {
    await rule();
    await targets(fire, { Id: "plain", Arn: target });
    await put({ ...paid, Source: "bank" }, paid, { ...paid, EventBusName: "default" });
    await world.events.deliveries.rest();
    const heard = world.delivered.filter(({ functionArn }) => functionArn === target).map(({ payload }) => payload);
    expect(heard).toHaveLength(2);
    expect(JSON.parse(heard[0] ?? "")).toMatchObject({ workflow: "pay", event: { source: "shop" } });
    expect(heard[0]).toContain("12345678901234567890");
    expect(JSON.parse(heard[1] ?? "")).toMatchObject({ source: "shop" });
  });

  it.each<[string, PutEventsRequestEntry, string]>([
    ["has no source", { ...paid, Source: undefined }, "InvalidArgument"],
    ["has no type", { ...paid, DetailType: "" }, "InvalidArgument"],
    ["has a type of 129 characters", { ...paid, DetailType: "x".repeat(129) }, "InvalidArgument"],
    ["has no detail", { ...paid, Detail: undefined }, "InvalidArgument"],
    ["has a detail that is no JSON", { ...paid, Detail: "{" }, "MalformedDetail"],
    ["has a detail that is no object", { ...paid, Detail: "[1]" }, "MalformedDetail"],
    ["claims to come from AWS", { ...paid, Source: "aws.s3" }, "NotAuthorizedForSourceException"],
  ])("fails if it %s, and another event of the same request is accepted", async (_, entry, ErrorCode) => {
    const { Entries, FailedEntryCount } = await put(entry, paid);
    expect(FailedEntryCount).toBe(1);
    expect(Entries).toMatchObject([{ ErrorCode }, { EventId: expect.any(String) }]);
    await world.events.deliveries.rest();
    expect(world.delivered).toHaveLength(1);
  });

  it.each<[string, PutEventsRequestEntry[], string]>([
    ["has eleven events", Array<PutEventsRequestEntry>(11).fill(paid), "ValidationException"],
    ["has no events", [], "ValidationException"],
    ["is too large", [{ ...paid, Detail: JSON.stringify({ x: "y".repeat(1024 * 1024) }) }], "ValidationException"],
    ["names a bus that does not exist", [{ ...paid, EventBusName: "other" }], "ResourceNotFoundException"],
  ])("is refused if its request %s", async (_, entries, name) => {
    await expect(put(...entries)).rejects.toMatchObject({ name });
  });

  it("is accepted if its size is 900 KB", async () => {
    expect(await put({ ...paid, Detail: JSON.stringify({ x: "y".repeat(900 * 1024) }) })).toMatchObject({
      FailedEntryCount: 0,
    });
  });

  it("waits for the delivery of the previous event if its function takes only one event at a time", async () => {
    const first = Promise.withResolvers<boolean>();
    world.takes = () => first.promise;
    await put({ ...paid, Source: "nova", Detail: '{"n":1}' }, { ...paid, Source: "nova", Detail: '{"n":2}' });
    expect(world.delivered.map(({ functionArn }) => functionArn)).toEqual([inTurn]);
    first.resolve(true);
    await world.events.deliveries.rest();
    expect(world.delivered.map(({ payload }) => JSON.parse(payload).detail.n)).toEqual([1, 2]);
  });

  it("is delivered after deliveries are started, and delivered again if the process dies during the delivery", async () => {
    const never = Promise.withResolvers<boolean>();
    world.takes = () => never.promise;
    await put(paid);
    await world.close();
    await world.open();
    world.takes = () => true;
    await put({ ...paid, DetailType: "Shipped" });
    expect(world.delivered).toHaveLength(1);
    world.events.deliveries.drive();
    await world.events.deliveries.rest();
    const types = world.delivered.map(({ payload }) => JSON.parse(payload)["detail-type"]);
    expect(types).toEqual(["Paid", "Paid", "Shipped"]);
    await world.close();
    await world.open();
    world.events.deliveries.drive();
    expect(world.delivered).toHaveLength(3);
  });

  it("is written to a file if no attempt to deliver it succeeds", async () => {
    world.takes = () => false;
    const warned = vi.spyOn(process, "emitWarning").mockReturnValue(undefined);
    await put(paid);
    await world.events.deliveries.rest();
    expect(warned).toHaveBeenCalledOnce();
    warned.mockRestore();
    const kept = readFileSync(join(world.dataDir, "events", "undelivered.ndjson"), "utf8");
    expect(JSON.parse(kept)).toMatchObject({ functionArn: standing, payload: expect.stringContaining('"shop"') });
  });

  it("is delivered by the commands in docs/dev.md after all earlier attempts have failed", async () => {
    const [, script = ""] =
      readFileSync(new URL("../../../docs/dev.md", import.meta.url), "utf8")
        .split("## What could not be delivered")[1]
        ?.split("```\n") ?? [];
    expect(script).toMatch(/^cd \.nova\/events\n/);
    const again = script.replace(".nova", world.dataDir);
    world.takes = () => false;
    const warned = vi.spyOn(process, "emitWarning").mockReturnValue(undefined);
    await put(paid, { ...paid, DetailType: "Shipped" });
    await world.events.deliveries.rest();
    warned.mockRestore();
    const failed = world.delivered.splice(0);
    await world.close();
    execFileSync("sh", ["-ec", again]);
    await world.open();
    world.takes = () => true;
    world.events.deliveries.drive();
    await world.events.deliveries.rest();
    expect(world.delivered).toEqual(failed);
    expect(readdirSync(join(world.dataDir, "events"))).not.toContain("undelivered.ndjson");
  });
});

describe("a rule of the local EventBridge", () => {
  it("still works in the next process, and can be removed after its targets are removed", async () => {
    const { RuleArn } = await rule();
    expect(RuleArn).toBe("arn:aws:events:us-east-1:000000000000:rule/nova/paid");
    await targets(fire);
    await world.close();
    await world.open();
    const name = { Name: "paid", EventBusName: "nova" };
    world.events.deliveries.drive();
    await put(paid);
    await world.events.deliveries.rest();
    const heard = world.delivered.filter(({ functionArn }) => functionArn === target);
    expect(heard.map(({ payload }) => JSON.parse(payload))).toMatchObject([
      { workflow: "pay", event: { source: "shop" } },
    ]);
    const removal = world.client.send(new DeleteRuleCommand(name));
    await expect(removal).rejects.toThrow("Rule can't be deleted since it has targets.");
    await world.client.send(new RemoveTargetsCommand({ Rule: "paid", EventBusName: "nova", Ids: ["fire"] }));
    await world.client.send(new DeleteRuleCommand(name));
    await expect(targets(fire)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });

  it("gets no events while it is disabled, and keeps its targets when it is changed", async () => {
    await rule({ State: "DISABLED" });
    await targets(fire);
    await put(paid);
    await rule();
    await put(paid);
    await world.events.deliveries.rest();
    expect(world.delivered.filter(({ functionArn }) => functionArn === target)).toHaveLength(1);
  });

  it.each<[string, Partial<PutRuleCommandInput>, string]>([
    ["a name with a slash", { Name: "a/b" }, "ValidationException"],
    ["a name of 65 characters", { Name: "a".repeat(65) }, "ValidationException"],
    ["a bus that is not there", { EventBusName: "other" }, "ResourceNotFoundException"],
    ["no pattern", { EventPattern: undefined }, "ValidationException"],
    ["a pattern that is no JSON", { EventPattern: "{" }, "InvalidEventPatternException"],
    ["a pattern that is no object", { EventPattern: "[]" }, "InvalidEventPatternException"],
    ["a pattern whose value is not in a list", { EventPattern: '{"source":"shop"}' }, "InvalidEventPatternException"],
    ["an empty pattern", { EventPattern: "{}" }, "InvalidEventPatternException"],
    ["a schedule", { ScheduleExpression: "rate(1 minute)" }, "ValidationException"],
    ["an unknown state", { State: "OFF" as never }, "ValidationException"],
  ])("with %s is refused", async (_, input, name) => {
    await expect(rule(input)).rejects.toMatchObject({ name });
  });

  it.each<[string, Target]>([
    ["that is no function", { Id: "a", Arn: "arn:aws:sqs:us-east-1:123456789012:q" }],
    ["with an invalid id", { Id: "a b", Arn: target }],
    ["whose input is a constant", { Id: "a", Arn: target, Input: "{}" }],
    ["whose template is no JSON", { ...fire, InputTransformer: { InputTemplate: '{"a":' } }],
    [
      "whose template has a variable that is not served",
      { ...fire, InputTransformer: { InputTemplate: '{"a":<aws.events.event>}' } },
    ],
    [
      "that takes parts of the event",
      { ...fire, InputTransformer: { InputTemplate, InputPathsMap: { a: "$.detail" } } },
    ],
  ])("cannot have a target %s", async (_, one) => {
    await rule();
    await expect(targets(one)).rejects.toMatchObject({ name: "ValidationException" });
  });

  it("has at most five targets", async () => {
    await rule();
    const six = ["a", "b", "c", "d", "e", "f"].map((Id) => ({ Id, Arn: target }));
    await expect(targets(...six)).rejects.toMatchObject({ name: "LimitExceededException" });
  });
});

it("the local EventBridge refuses a request without the key, and an operation that it does not have", async () => {
  const ask = (headers: Record<string, string>) => fetch(world.events.url, { method: "POST", body: "{}", headers });
  expect((await ask({ "x-amz-target": "AWSEvents.PutEvents" })).status).toBe(403);
  const headers = { "x-amz-target": "AWSEvents.CreateArchive" };
  const answer = await signedFetch("events", credentials, world.events.url, { method: "POST", body: "{}", headers });
  expect(await answer.json()).toMatchObject({ __type: "UnknownOperationException" });
});
