import type { EventRule, EventRules } from "@nova/service";
import { textOfJson } from "@nova/workflow";
import { eventBridge } from "../clients/event-bridge.ts";
import { reaching } from "../clients/outage.ts";
import { resourceName } from "../triggers/resource-name.ts";
import { ruleRefused, targetRefused } from "./rule-refused.ts";

export interface RulesOptions {
  /** Name of NOVA's own bus. */
  busName: string;
  /** The function that starts runs. */
  targetArn: string;
  /** Where events go that it did not take; absent: nowhere. */
  deadLetterArn?: string | undefined;
}

/** Lambda takes an event for a day, in at most 185 attempts (EventBridge, "Retry policies"). */
const retries = { MaximumRetryAttempts: 185, MaximumEventAgeInSeconds: 24 * 60 * 60 };

const targetId = "fire";

/** Rules of EventBridge with one target each, which hears of the trigger and of the event. */
export function createEventRules({ busName, targetArn, deadLetterArn }: RulesOptions): EventRules {
  const bridge = eventBridge();
  const busOf = ({ bus }: Pick<EventRule, "bus">) => (bus === "nova" ? busName : "default");
  const target = (rule: EventRule) => ({
    Id: targetId,
    Arn: targetArn,
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
      await unlessAbsent(() =>
        client.send(new sdk.RemoveTargetsCommand({ Rule: name, EventBusName, Ids: [targetId] })),
      );
      await unlessAbsent(() => client.send(new sdk.DeleteRuleCommand({ Name: name, EventBusName })));
    },
  };
}

/** EventBridge puts the event, as it came, in the place of `<aws.events.event.json>`. */
function inputFor({ workflow, trigger }: EventRule): string {
  return `{"workflow":${JSON.stringify(workflow)},"trigger":${JSON.stringify(trigger)},"event":<aws.events.event.json>}`;
}

async function unlessAbsent(remove: () => Promise<unknown>): Promise<void> {
  try {
    await reaching("EventBridge", remove);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ResourceNotFoundException") throw error;
  }
}
