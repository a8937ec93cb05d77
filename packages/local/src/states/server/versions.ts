import { AwsError } from "../../aws-http/aws-error.ts";
import { parseStateMachineArn } from "./arns.ts";
import { invalidArn } from "./aws-error.ts";
import { diagnoseDefinition } from "./definition-check.ts";
import { pageOf } from "./page.ts";
import { type Operation, seconds } from "./service.ts";
import { findMachine, publishVersion, versionArn } from "./state-machines.ts";

export const publishStateMachineVersion: Operation = (service, request) => {
  const { machine } = findMachine(service, request.text("stateMachineArn"));
  const expected = request.optionalText("revisionId");
  const current = machine.revision.id ?? "INITIAL";
  if (expected !== undefined && expected !== current) {
    throw new AwsError(
      "ConflictException",
      `Failed to publish the State Machine version for revision ${expected}. The current State Machine revision is ${current}.`,
    );
  }
  const version = publishVersion(service, machine, request.optionalText("description", 256));
  return { stateMachineVersionArn: versionArn(service, machine, version), creationDate: seconds(version.at) };
};

/** The latest first. */
export const listStateMachineVersions: Operation = (service, request) => {
  const arn = request.text("stateMachineArn");
  const { machine } = findMachine(service, arn);
  const latestFirst = [...machine.versions.values()].reverse();
  const { items, ...rest } = pageOf(latestFirst, (version) => version.number, `versions of ${arn}`, request);
  const stateMachineVersions = items.map((version) => ({
    stateMachineVersionArn: versionArn(service, machine, version),
    creationDate: seconds(version.at),
  }));
  return { stateMachineVersions, ...rest };
};

/** Executions of the version keep running: they have their revision. */
export const deleteStateMachineVersion: Operation = (service, request) => {
  const arn = request.text("stateMachineVersionArn");
  const { name, version } = parseStateMachineArn(arn);
  if (version === undefined) throw invalidArn(`The ARN must name a version: ${arn}`);
  if (service.machines.get(name)?.versions.has(version)) service.machines.unpublish(name, version);
  return {};
};

export const validateStateMachineDefinition: Operation = (_service, request) => {
  const most = request.pageSize();
  const diagnostics = diagnoseDefinition(request.text("definition"));
  return {
    result: diagnostics.length === 0 ? "OK" : "FAIL",
    diagnostics: diagnostics.slice(0, most),
    truncated: diagnostics.length > most,
  };
};
