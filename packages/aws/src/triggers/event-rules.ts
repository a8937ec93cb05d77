import type { PutTargetsResultEntry } from "@aws-sdk/client-eventbridge";
import { StoreUnavailable } from "@nova/engine";
import type { EventRule, EventRules } from "@nova/service";
import { textOfJson } from "@nova/workflow";
import { eventBridge } from "../clients/loaded.ts";
import { reportOutage } from "../clients/outage.ts";
import { resourceName, retries, type TriggerOptions, TriggerRefused, unlessAbsent } from "./resources.ts";

const targetId = "fire";

/** EventBridge rules with one target each. The target receives the names of workflow and trigger, and the event. */
export function createEventRules({ busName, fireTriggerArn, deadLetterArn }: TriggerOptions): EventRules {
  const bridge = eventBridge();
  const busOf = ({ bus }: Pick<EventRule, "bus">) => (bus === "nova" ? busName : "default");
  const target = (rule: EventRule) => ({
    Id: targetId,
    Arn: fireTriggerArn,
    InputTransformer: { InputTemplate: inputFor(rule) },
    RetryPolicy: retries,
    ...(deadLetterArn !== undefined && { DeadLetterConfig: { Arn: deadLetterArn } }),
  });
  return {
    async put(rule) {
      const [Name, EventBusName] = [resourceName(rule), busOf(rule)];
      const { client, sdk } = await bridge();
      const Description = `Trigger ${rule.trigger} of workflow ${rule.workflow}`;
      const EventPattern = textOfJson(rule.pattern);
      const command = new sdk.PutRuleCommand({ Name, EventBusName, EventPattern, Description, State: "ENABLED" });
      await reportOutage("EventBridge", () => client.send(command)).catch((cause) => {
        throw ruleRefused(rule, cause);
      });
      const targets = new sdk.PutTargetsCommand({ Rule: Name, EventBusName, Targets: [target(rule)] });
      const { FailedEntries: [failed] = [] } = await reportOutage("EventBridge", () => client.send(targets));
      if (failed) throw targetRefused(rule, failed);
    },
    async remove(rule) {
      const [name, EventBusName] = [resourceName(rule), busOf(rule)];
      const { client, sdk } = await bridge();
      const targets = new sdk.RemoveTargetsCommand({ Rule: name, EventBusName, Ids: [targetId] });
      await unlessAbsent("EventBridge", () => client.send(targets));
      await unlessAbsent("EventBridge", () => client.send(new sdk.DeleteRuleCommand({ Name: name, EventBusName })));
    },
  };
}

/** EventBridge replaces `<aws.events.event.json>` with the unchanged event. */
function inputFor({ workflow, trigger }: EventRule): string {
  return `{"workflow":${JSON.stringify(workflow)},"trigger":${JSON.stringify(trigger)},"event":<aws.events.event.json>}`;
}

/** Errors that a retry can fix: concurrent changes of a rule, and codes in `FailedEntries`. */
const transientErrors: readonly (string | undefined)[] = [
  "ConcurrentModificationException",
  "InternalException",
  "ThrottlingException",
];

/** The error to throw if EventBridge does not accept a rule: `Refused` if a retry cannot help. */
export function ruleRefused({ trigger, workflow }: EventRule, cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const { name, message } = cause;
  const what = `trigger "${trigger}" of workflow "${workflow}"`;
  if (transientErrors.includes(name))
    return new StoreUnavailable(`EventBridge was changing ${what} - try again`, { cause });
  if (name === "InvalidEventPatternException") {
    const reason = `EventBridge refuses the pattern of ${what}: ${message}`;
    return new TriggerRefused(`${reason} - correct the pattern`, { cause });
  }
  if (name !== "LimitExceededException") return cause;
  // Service Quotas of EventBridge, "Rules": 300 on a bus.
  const reason = `EventBridge has no room for the rule of ${what}: ${message}`;
  return new TriggerRefused(`${reason} - delete workflows with event triggers, or ask AWS for more rules`, { cause });
}

/** The error to throw if EventBridge does not accept a rule's target. */
export function targetRefused({ trigger, workflow }: EventRule, failed: PutTargetsResultEntry): Error {
  const { ErrorCode, ErrorMessage } = failed;
  const reason = `the rule of trigger "${trigger}" of workflow "${workflow}" has no target (${ErrorCode}: ${ErrorMessage})`;
  if (transientErrors.includes(ErrorCode)) return new StoreUnavailable(`${reason} - try again`);
  return new TriggerRefused(`${reason} - publish it again`);
}
