import { randomUUID } from "node:crypto";
import { GetScheduleCommand, ListSchedulesCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { region } from "./environment.ts";
import type { Functions } from "./lambda/functions.ts";

/** Invokes the targets of a workflow's schedules in moto, as EventBridge Scheduler does. */
export async function fireSchedules(endpoint: string, functions: Functions, workflow: string): Promise<void> {
  const credentials = { accessKeyId: "truth", secretAccessKey: "truth" };
  const client = new SchedulerClient({ endpoint, region, credentials });
  const { Schedules = [] } = await client.send(new ListSchedulesCommand({ GroupName: "nova" }));
  for (const { Name } of Schedules.filter((one) => one.Name?.includes(workflow))) {
    const { Target } = await client.send(new GetScheduleCommand({ Name, GroupName: "nova" }));
    const [, , , , , , name = ""] = Target?.Arn?.split(":") ?? [];
    const input = (Target?.Input ?? "{}")
      .replaceAll("<aws.scheduler.scheduled-time>", new Date().toISOString())
      .replaceAll("<aws.scheduler.execution-id>", randomUUID());
    await functions.invokeLater(name, JSON.parse(input));
  }
  client.destroy();
}
