import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { Stack } from "aws-cdk-lib/core";
import { allow } from "./allow.ts";

/** The prefix in the bucket for mails, and the rule of SES that writes them. */
export const mailPrefix = "mail/";
export const mailRuleSet = "nova";
export const mailRule = "into-bucket";

/** Allows SES to write mails into the bucket by that rule only. */
export function allowIncomingMail(stack: Stack, bucket: IBucket): void {
  const rule = stack.formatArn({
    service: "ses",
    resource: "receipt-rule-set",
    resourceName: `${mailRuleSet}:receipt-rule/${mailRule}`,
  });
  const ofRule = { StringEquals: { "aws:SourceAccount": stack.account, "aws:SourceArn": rule } };
  const puts = allow("s3", ["PutObject"], [bucket.arnForObjects(`${mailPrefix}*`)], ofRule);
  puts.addPrincipals(new ServicePrincipal("ses.amazonaws.com"));
  bucket.addToResourcePolicy(puts);
}
