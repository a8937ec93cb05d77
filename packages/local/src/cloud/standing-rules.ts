import type { StandingRule } from "@nova/aws-local";
import type { JsonObject } from "@nova/workflow";
import { functionArn } from "./lambda.ts";

/** The rules that the deployed bus has from the start (stacks/engine/events.ts). */
export const standing: StandingRule[] = [
  { pattern: { source: [{ "anything-but": ["nova"] }] }, functionArn: functionArn("nova-deliver-event") },
  own("execution.failed", "nova-notify"),
  own("execution.waiting", "nova-notify", { detail: { kind: ["approval"] } }),
  { ...own("client.erasing", "nova-erase"), inTurn: true },
  { ...own("workflow.publishing", "nova-publish"), inTurn: true },
];

function own(type: string, name: string, more: JsonObject = {}): StandingRule {
  return { pattern: { source: ["nova"], "detail-type": [type], ...more }, functionArn: functionArn(name) };
}
