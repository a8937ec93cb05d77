import { exactOf } from "../json/exact.ts";
import type { ScheduleTrigger, Trigger, WebhookSignature, Workflow } from "../workflow.ts";

type Written = Record<string, unknown>;

/** Writes the triggers and the receivers of failure notices as the author of a workflow would. */
export function writeTriggers({ triggers, onFailure }: Pick<Workflow, "triggers" | "onFailure">): Written {
  return {
    ...(triggers && { triggers: triggers.map(writeTrigger) }),
    ...(onFailure && { on_failure: onFailure }),
  };
}

function writeTrigger(trigger: Trigger): Written {
  switch (trigger.type) {
    case "mail":
      return { ...trigger };
    case "imap": {
      const { everySeconds: every, ...same } = trigger;
      return { ...same, every };
    }
    case "webhook": {
      const { waitSeconds: wait, signature, ...same } = trigger;
      return { ...same, wait, signature: signature && writeSignature(signature) };
    }
    case "schedule": {
      const { when, context, ...same } = trigger;
      return { ...same, ...writeTime(when), context: context && exactOf(context) };
    }
    case "event":
      return { ...trigger, pattern: exactOf(trigger.pattern) };
  }
}

function writeSignature({ toleranceSeconds: tolerance, ...same }: WebhookSignature): Written {
  return { ...same, tolerance };
}

function writeTime(when: ScheduleTrigger["when"]): Written {
  if (when.kind === "every") return { every: when.everySeconds };
  return when.kind === "cron" ? { cron: when.cron } : { at: when.at };
}
