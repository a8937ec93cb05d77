import { invalidArn, invalidName } from "./aws-error.ts";

/** Step Functions: at most 80 characters of ASCII, without white space and the characters that mean something elsewhere. */
const NAME = /^[A-Za-z0-9!'()+\-.=@_]{1,80}$/;

export function assertName(name: string): void {
  if (!NAME.test(name)) throw invalidName(name);
}

export interface StateMachineArn {
  name: string;
  version: number | undefined;
  /** Without the version. */
  unqualified: string;
}

/** @throws InvalidArn */
export function parseStateMachineArn(arn: string): StateMachineArn {
  const parts = split(arn);
  const [resource, name, version, ...rest] = parts;
  if (resource !== "stateMachine" || !name || rest.length > 0) {
    throw invalidArn(`Resource type not valid in this context: ${resource}`);
  }
  if (version !== undefined && !/^\d+$/.test(version)) throw invalidArn(`Aliases are not served locally: ${arn}`);
  const unqualified = version === undefined ? arn : arn.slice(0, -version.length - 1);
  return { name, version: version === undefined ? undefined : Number(version), unqualified };
}

/** @throws InvalidArn */
export function assertExecutionArn(arn: string): void {
  const [resource, machine, name] = split(arn);
  if (resource !== "execution" || !machine || !name) {
    throw invalidArn(`Resource type not valid in this context: ${resource}`);
  }
}

/** @throws InvalidArn */
export function assertRoleArn(arn: string): void {
  if (!/^arn:aws[\w-]*:iam::\d{12}:role\/.+/.test(arn)) throw invalidArn(`Invalid ARN prefix: ${arn}`);
}

function split(arn: string): string[] {
  const match = /^arn:aws[\w-]*:states:[\w-]+:\d{12}:(.+)$/.exec(arn);
  if (!match) throw invalidArn(`Invalid ARN prefix: ${arn}`);
  return (match[1] as string).split(":");
}
