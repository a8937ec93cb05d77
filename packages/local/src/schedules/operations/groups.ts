import { AwsError } from "../../aws-http/aws-error.ts";
import type { ScheduleOperation, ScheduleService } from "../service.ts";

export const listScheduleGroups: ScheduleOperation = (service, { query }) => {
  const prefix = query.get("NamePrefix") ?? "";
  const names = service.groups.filter((name) => name.startsWith(prefix)).sort();
  return { ScheduleGroups: names.map((name) => groupOf(service, name)) };
};

export const getScheduleGroup: ScheduleOperation = (service, { name }) => {
  if (service.groups.includes(name)) return groupOf(service, name);
  throw new AwsError("ResourceNotFoundException", `Schedule group ${name} does not exist.`, 404);
};

function groupOf({ region, accountId }: ScheduleService, name: string): object {
  return { Name: name, Arn: `arn:aws:scheduler:${region}:${accountId}:schedule-group/${name}`, State: "ACTIVE" };
}
