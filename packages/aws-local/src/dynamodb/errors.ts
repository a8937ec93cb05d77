import { type AwsError, validation } from "../aws-http/aws-error.ts";

export { malformed, validation as invalid } from "../aws-http/aws-error.ts";

/** The common form of many of DynamoDB's messages. */
export function invalidParameter(reason: string): AwsError {
  return validation(`One or more parameter values were invalid: ${reason}`);
}
