import { join } from "node:path";
import type { AccessKey } from "../access/signature.ts";
import { listen } from "../aws-http/listen.ts";
import { findOperation } from "../aws-http/request.ts";
import { Deliveries, type Invoke } from "../deliveries.ts";
import { DiskSpace } from "../disk/disk-space.ts";
import { KeyedFile } from "../disk/keyed-file.ts";
import { putEvents } from "./operations/put-events.ts";
import { ruleOperations, targetOperations } from "./operations/rules.ts";
import { type EventOperations, type EventPatterns, type Rule, ruleKey, type StandingRule } from "./service.ts";

export interface EventsOptions extends AccessKey {
  /** The data folder. Its subfolder `events` holds rules and pending deliveries. */
  dataDir: string;
  patterns: EventPatterns;
  /** Name of the custom bus, in addition to `default`. */
  customBus: string;
  /** Rules of the custom bus that belong to the deployment: no request changes them. */
  standing?: readonly StandingRule[];
  invoke: Invoke;
  now?: () => number;
  /** The disk of the data folder. */
  disk?: DiskSpace;
}

export type Events = Awaited<ReturnType<typeof openEvents>>;

const operations: EventOperations = { PutEvents: putEvents, ...ruleOperations, ...targetOperations };

/** Opens EventBridge over a data folder. */
export async function openEvents(options: EventsOptions) {
  const { dataDir, accessKeyId, secretAccessKey, patterns, customBus, standing = [], invoke, now = Date.now } = options;
  const { disk = new DiskSpace(dataDir) } = options;
  const folder = join(dataDir, "events");
  const deliveries = new Deliveries(folder, invoke, disk, now);
  const rules = new KeyedFile<Rule>(join(folder, "rules.json"), ruleKey);
  const service = { rules, patterns, customBus, standing, deliveries, now };
  const server = await listen({
    name: "EventBridge",
    contentType: "application/x-amz-json-1.1",
    accessKeyId,
    secretAccessKey,
    disk,
    read: "AWSEvents",
    perform: (operation, input) => findOperation("EventBridge", operation, operations)(service, input),
  });
  return {
    ...server,
    /** Events on their way to functions. No delivery starts before `deliveries.drive()` is called. */
    deliveries,
    async close() {
      await server.close();
      deliveries.close();
    },
  };
}
