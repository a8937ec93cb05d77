import { Queue } from "aws-cdk-lib/aws-sqs";
import { roleName } from "./access/arns.ts";
import { createLambdas } from "./engine/create-lambda.ts";
import { forwardEvents, novaEvents, schedule } from "./engine/rule.ts";
import { mailSettingsFrom } from "./engine/settings.ts";
import { engine } from "./engine.ts";
import { type StackContext, use } from "./sst.ts";
import { storage } from "./storage.ts";
import { triggerLambdas } from "./triggers/lambdas.ts";
import { receiveMail } from "./triggers/mail.ts";
import { createNotices, createPublications } from "./triggers/queues.ts";
import { allowTriggerRules, createSchedules } from "./triggers/schedules.ts";

/** Runs of triggers, publications, notices and erasures: work without a waiting caller. */
export function triggers({ stack }: StackContext) {
  const { around, bus, undelivered: queue } = use(engine);
  const { events } = around.granted;
  const roleNames = { "nova-erase": roleName(stack, "erase") };
  const functions = createLambdas(stack, triggerLambdas, { ...around, roleNames });
  // Refers to the queue by its ARN: otherwise the rules would extend the policy of the queue, which is in an earlier
  // stack.
  const undelivered = Queue.fromQueueArn(stack, "Undelivered", queue.queueArn);

  createNotices(stack, functions["nova-notify"], undelivered, bus);
  forwardEvents(stack, "Erasures", {
    pattern: novaEvents(stack, "client.erasing"),
    to: functions["nova-erase"],
    undelivered,
    bus,
  });
  const unpublished = createPublications(stack, functions["nova-publish"], undelivered, bus);
  allowTriggerRules(functions["nova-fire-trigger"], events);
  createSchedules(stack, [functions["nova-fire-trigger"], functions["nova-poll-mailbox"]], around.granted);
  schedule(stack, "Retention", {
    description: "Erases what is older than its client keeps it",
    every: "rate(1 hour)",
    work: functions["nova-retain"],
  });
  receiveMail(stack, mailSettingsFrom(process.env), {
    bucket: use(storage).bucket,
    receive: functions["nova-receive-mail"],
    undelivered,
  });
  return { functions, unpublished };
}
