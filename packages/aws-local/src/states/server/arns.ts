import { AwsError } from "../../aws-http/aws-error.ts";

const labels: Record<string, string> = {
  InvalidDefinition: "Invalid State Machine Definition",
  InvalidExecutionInput: "Invalid State Machine Execution Input",
};

/** Creates an error in Step Functions' words: `Invalid Arn: '...'`. */
export function arnError(name: string, detail: string): AwsError {
  return new AwsError(name, `${labels[name] ?? name.replace(/\B[A-Z]/g, " $&")}: '${detail}'`);
}

/**
 * A name that Step Functions accepts: at most 80 ASCII characters, without white space and without characters that have
 * a meaning in an ARN.
 */
const NAME = /^[A-Za-z0-9!'()+\-.=@_]{1,80}$/;

export function assertName(name: string): void {
  if (!NAME.test(name)) throw arnError("InvalidName", name);
}

export interface StateMachineArn {
  name: string;
  version: number | undefined;
  /** The ARN without the number of a version. */
  unqualified: string;
}

/**
 * Parses the ARN of a state machine, or of one of its versions.
 * @throws InvalidArn
 */
export function parseStateMachineArn(arn: string): StateMachineArn {
  const [name = "", version, ...rest] = partsOf(arn, "stateMachine");
  if (!name || rest.length > 0) throw arnError("InvalidArn", `Invalid ARN: ${arn}`);
  if (version === undefined) return { name, version, unqualified: arn };
  if (!/^\d+$/.test(version)) throw arnError("InvalidArn", `Aliases are not served locally: ${arn}`);
  return { name, version: Number(version), unqualified: arn.slice(0, -version.length - 1) };
}

/**
 * Splits an ARN and returns the parts after its resource type.
 * @throws InvalidArn if the ARN is of another type
 */
export function partsOf(arn: string, type: "stateMachine" | "execution"): string[] {
  const [, resource, rest] = /^arn:aws[\w-]*:states:[\w-]+:\d{12}:([^:]+):?(.*)$/.exec(arn) ?? [];
  if (resource === type) return (rest as string).split(":");
  if (resource === undefined) throw arnError("InvalidArn", `Invalid ARN prefix: ${arn}`);
  throw arnError("InvalidArn", `Resource type not valid in this context: ${resource}`);
}
