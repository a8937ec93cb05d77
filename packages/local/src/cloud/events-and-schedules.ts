import type { JsonObject } from "@nova/workflow";
import type { StandingRule } from "../events/rules.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import { region } from "./environment.ts";
import type { Keys } from "./keys.ts";
import { deliver, functionArn } from "./lambda.ts";
import type { RoomyOptions } from "./local-cloud.ts";

/** Name of NOVA's bus, as functions know it that are told no other. */
const bus = "nova";

/**
 * What the deployed bus hands on of itself (stacks/engine/events.ts). Runs wait for the world, and for each other in
 * another way.
 */
const standing: StandingRule[] = [
  { bus, pattern: { source: [{ "anything-but": ["nova"] }] }, functionArn: functionArn("nova-deliver-event") },
  own("execution.failed", "nova-notify"),
  own("execution.waiting", "nova-notify", { detail: { kind: ["approval"] } }),
  { ...own("client.erasing", "nova-erase"), inTurn: true },
  { ...own("workflow.publishing", "nova-publish"), inTurn: true },
];

function own(type: string, name: string, more: JsonObject = {}): StandingRule {
  return { bus, pattern: { source: ["nova"], "detail-type": [type], ...more }, functionArn: functionArn(name) };
}

export interface EventsAndSchedules {
  urls: { eventbridge: string; scheduler: string };
  drive(): void;
  isBusy(): boolean;
  rest(): Promise<void>;
  close(): Promise<void>;
}

/** EventBridge and its Scheduler: what begins without anybody asking for it. */
export async function openEventsAndSchedules(
  { dataDir, fires = false, warn, room }: RoomyOptions,
  { accessKeyId, secretAccessKey }: Keys,
  invoke: InvokeLambda,
): Promise<EventsAndSchedules> {
  const [{ openEvents }, { openSchedules }] = await Promise.all([
    import("../events/open-events.ts"),
    import("../schedules/open-schedules.ts"),
  ]);
  const common = {
    ...{ dataDir, accessKeyId, secretAccessKey, region, room },
    invoke: (arn: string, text: string) => deliver(invoke, arn, text),
  };
  const [events, schedules] = await Promise.all([
    openEvents({ ...common, bus, standing }),
    openSchedules({ ...common, group: "nova", ...(warn && { warn }) }),
  ]);
  return {
    urls: { eventbridge: events.url, scheduler: schedules.url },
    drive() {
      events.drive();
      if (fires) schedules.fire();
    },
    isBusy: () => events.isBusy() || schedules.isBusy(),
    async rest() {
      await schedules.rest();
      await events.rest();
    },
    async close() {
      await Promise.all([events.close(), schedules.close()]);
    },
  };
}
