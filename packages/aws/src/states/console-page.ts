/** Hosts of the console, by partition; `%` is the region. */
const hosts: Readonly<Record<string, string>> = {
  aws: "%.console.aws.amazon.com",
  "aws-us-gov": "console.amazonaws-us-gov.com",
  "aws-cn": "console.amazonaws.cn",
};

const executionPattern = /^arn:([\w-]+):states:([a-z0-9-]+):(\d{12}):execution:[\w-]+:[\w.-]+$/;

/** No account has this number: it is that of a cloud on somebody's own machine. */
const localAccount = "000000000000";

/** Address of a run of a state machine in the console of Step Functions; null where it is in none. */
export function consolePage(executionArn: string): string | null {
  const [, partition = "", region = "", account] = executionPattern.exec(executionArn) ?? [];
  const host = hosts[partition];
  if (host === undefined || account === localAccount) return null;
  return `https://${host.replace("%", region)}/states/home?region=${region}#/v2/executions/details/${executionArn}`;
}
