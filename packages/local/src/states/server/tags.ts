import { AwsError, validation } from "../../aws-http/aws-error.ts";
import type { Request } from "../../aws-http/request.ts";
import { isObject } from "../../json.ts";
import type { Machine } from "../store/machines.ts";
import { parseStateMachineArn } from "./arns.ts";
import { resourceNotFound } from "./aws-error.ts";
import type { Operation, Service } from "./service.ts";

/** Step Functions: tags of one resource. */
const MOST_TAGS = 50;

export function readTags(request: Request): Record<string, string> {
  const pairs = request.list("tags").map((tag): [string, string] => {
    if (!isObject(tag) || typeof tag.key !== "string" || typeof tag.value !== "string") {
      throw validation("Each tag must have a key and a value");
    }
    return [tag.key, tag.value];
  });
  return Object.fromEntries(pairs);
}

export const tagResource: Operation = (service, request) => {
  const machine = taggedMachine(service, request);
  const tags = { ...machine.tags, ...readTags(request) };
  if (Object.keys(tags).length > MOST_TAGS)
    throw new AwsError("TooManyTags", `A resource has at most ${MOST_TAGS} tags`);
  service.machines.tag(machine.name, tags);
  return {};
};

export const untagResource: Operation = (service, request) => {
  const machine = taggedMachine(service, request);
  const removed = new Set(request.list("tagKeys"));
  service.machines.tag(
    machine.name,
    Object.fromEntries(Object.entries(machine.tags).filter(([key]) => !removed.has(key))),
  );
  return {};
};

export const listTagsForResource: Operation = (service, request) => {
  const { tags } = taggedMachine(service, request);
  return { tags: Object.entries(tags).map(([key, value]) => ({ key, value })) };
};

function taggedMachine(service: Service, request: Request): Machine {
  const arn = request.text("resourceArn");
  const machine = service.machines.get(parseStateMachineArn(arn).name);
  if (!machine) throw resourceNotFound(arn);
  return machine;
}
