import { busArn, busIn } from "../names.ts";
import type { EventOperation } from "../service.ts";

export const listEventBuses: EventOperation = (service, request) => {
  const prefix = request.optionalText("NamePrefix") ?? "";
  const names = service.buses.filter((name) => name.startsWith(prefix)).sort();
  return { EventBuses: names.map((Name) => ({ Name, Arn: busArn(service, Name) })) };
};

export const describeEventBus: EventOperation = (service, request) => {
  const Name = busIn(service, request.optionalText("Name"));
  return { Name, Arn: busArn(service, Name) };
};
