import { type AwsError, validation } from "../aws-http/aws-error.ts";

export { malformed, validation as invalid } from "../aws-http/aws-error.ts";

/** Creates the error for an invalid parameter, with the words that DynamoDB puts before the reason. */
export function invalidParameter(reason: string): AwsError {
  return validation(`One or more parameter values were invalid: ${reason}`);
}
