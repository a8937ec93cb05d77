import type { PutTargetsResultEntry } from "@aws-sdk/client-eventbridge";
import { StoreUnavailable } from "@nova/engine";
import type { EventRule, EventRules } from "@nova/service";
import { textOfJson } from "@nova/workflow";
import { eventBridge } from "../clients/loaded.ts";
import { reaching } from "../clients/outage.ts";
import { resourceName, retries, type TriggerOptions, TriggerRefused, unlessAbsent } from "./resources.ts";

const targetId = "fire";

/** Rules of EventBridge with one target each, which hears of the trigger and of the event. */
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
      await reaching("EventBridge", () => client.send(command)).catch((cause) => {
        throw ruleRefused(rule, cause);
      });
      const targets = new sdk.PutTargetsCommand({ Rule: Name, EventBusName, Targets: [target(rule)] });
      const { FailedEntries: [failed] = [] } = await reaching("EventBridge", () => client.send(targets));
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

/** EventBridge puts the event, as it came, in the place of `<aws.events.event.json>`. */
function inputFor({ workflow, trigger }: EventRule): string {
  return `{"workflow":${JSON.stringify(workflow)},"trigger":${JSON.stringify(trigger)},"event":<aws.events.event.json>}`;
}

/** What passes: two changes of one rule at the same moment, and what `FailedEntries` may say of a target. */
const passing: readonly (string | undefined)[] = [
  "ConcurrentModificationException",
  "InternalException",
  "ThrottlingException",
];

/** What to throw where EventBridge does not take a rule: `Refused` where it never will. */
export function ruleRefused({ trigger, workflow }: EventRule, cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const { name, message } = cause;
  const what = `trigger "${trigger}" of workflow "${workflow}"`;
  if (passing.includes(name)) return new StoreUnavailable(`EventBridge was changing ${what} - try again`, { cause });
  if (name === "InvalidEventPatternException") {
    const reason = `EventBridge refuses the pattern of ${what}: ${message}`;
    return new TriggerRefused(`${reason} - correct the pattern`, { cause });
  }
  if (name !== "LimitExceededException") return cause;
  // Service Quotas of EventBridge, "Rules": 300 on a bus.
  const reason = `EventBridge has no room for the rule of ${what}: ${message}`;
  return new TriggerRefused(`${reason} - delete workflows with event triggers, or ask AWS for more rules`, { cause });
}

/** The same for its target, by what `FailedEntries` says of it. */
export function targetRefused({ trigger, workflow }: EventRule, failed: PutTargetsResultEntry): Error {
  const { ErrorCode, ErrorMessage } = failed;
  const reason = `the rule of trigger "${trigger}" of workflow "${workflow}" has no target (${ErrorCode}: ${ErrorMessage})`;
  if (passing.includes(ErrorCode)) return new StoreUnavailable(`${reason} - try again`);
  return new TriggerRefused(`${reason} - publish it again`);
}
