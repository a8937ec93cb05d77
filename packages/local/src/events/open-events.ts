import { join } from "node:path";
import type { AccessKey } from "../access/signature.ts";
import { listen } from "../aws-http/listen.ts";
import { operationOf, requestOf } from "../aws-http/request.ts";
import { Deliveries, type Invoke } from "../deliveries/deliveries.ts";
import { Room } from "../disk/room.ts";
import { KeyedFile } from "../disk/whole-file.ts";
import { putEvents } from "./operations/put-events.ts";
import { deleteRule, describeEventBus, describeRule, listEventBuses, listRules, putRule } from "./operations/rules.ts";
import { listTargetsByRule, putTargets, removeTargets } from "./operations/targets.ts";
import { type Rule, ruleKey, type StandingRule } from "./rules.ts";
import type { EventOperation } from "./service.ts";

export interface EventsOptions extends AccessKey {
  /** Rules, and what is not delivered yet, are in its folder `events`. */
  dataDir: string;
  /** Besides `default`. */
  bus: string;
  region: string;
  standing: readonly StandingRule[];
  invoke: Invoke;
  now?: () => number;
  /** Of the data folder. */
  room?: Room;
}

export interface Events {
  url: string;
  /** Begins to deliver. */
  drive(): void;
  isBusy(): boolean;
  /** Resolves when nothing is being delivered. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

/** The operations of EventBridge that the local cloud serves. */
const operations: Record<string, EventOperation> = {
  ListEventBuses: listEventBuses,
  DescribeEventBus: describeEventBus,
  PutEvents: putEvents,
  PutRule: putRule,
  DeleteRule: deleteRule,
  DescribeRule: describeRule,
  ListRules: listRules,
  PutTargets: putTargets,
  RemoveTargets: removeTargets,
  ListTargetsByRule: listTargetsByRule,
};

/** Opens EventBridge over a data folder. */
export async function openEvents(options: EventsOptions): Promise<Events> {
  const {
    dataDir,
    accessKeyId,
    secretAccessKey,
    bus,
    region,
    standing,
    now = Date.now,
    room = new Room(dataDir),
  } = options;
  const folder = join(dataDir, "events");
  const deliveries = new Deliveries(folder, options.invoke, room, now);
  const rules = new KeyedFile<Rule>(join(folder, "rules.json"), ruleKey);
  const service = { rules, standing, deliveries, buses: [bus, "default"], region, now };
  const { url, close } = await listen({
    name: "EventBridge",
    contentType: "application/x-amz-json-1.1",
    accessKeyId,
    secretAccessKey,
    room,
    answer: (message, body) => operationOf("EventBridge", "AWSEvents", message, operations)(service, requestOf(body)),
  });
  return {
    url,
    drive: () => deliveries.drive(),
    isBusy: () => deliveries.isBusy(),
    rest: () => deliveries.rest(),
    async close() {
      await close();
      deliveries.close();
    },
  };
}
