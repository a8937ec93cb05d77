import type { Stack } from "aws-cdk-lib/core";

/** Name of the role that takes contents out of chains; the table's policy knows it before there is one. */
export function eraserName(stack: Stack): string {
  return `nova-erase-${stack.region}`;
}

export function eraserArn(stack: Stack): string {
  return stack.formatArn({ service: "iam", region: "", resource: "role", resourceName: eraserName(stack) });
}
