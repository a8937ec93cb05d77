import { EventField, RuleTargetInput } from "aws-cdk-lib/aws-events";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import { CfnReceiptRule, CfnReceiptRuleSet, EmailIdentity, Identity } from "aws-cdk-lib/aws-ses";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { Stack } from "sst/constructs";
import { mailPrefix, mailRule, mailRuleSet } from "../access/mail.ts";
import { handOn } from "../engine/rule.ts";
import type { MailSettings } from "../engine/settings.ts";

export interface MailParts {
  bucket: Bucket;
  receive: IFunction;
  undelivered: IQueue;
}

/** SES takes the mail of the domains, and what it puts into the bucket is received. Without a domain there is nothing. */
export function receiveMail(stack: Stack, { domains }: MailSettings, parts: MailParts): void {
  if (domains.length === 0) return;
  domains.forEach((domain, at) => void createIdentity(stack, domain, at));
  createRuleSet(stack, domains, parts.bucket);
  const { bucket, receive, undelivered } = parts;
  const pattern = {
    source: ["aws.s3"],
    detailType: ["Object Created"],
    detail: { bucket: { name: [bucket.bucketName] }, object: { key: [{ prefix: mailPrefix }] } },
  };
  // As S3 itself would say it, without a resource that makes CloudFormation call a Lambda.
  const key = EventField.fromPath("$.detail.object.key");
  const input = RuleTargetInput.fromObject({ Records: [{ s3: { object: { key } } }] });
  handOn(stack, "Mails", { pattern, to: receive, undelivered, input });
}

/** SES believes whoever can write into the domain's DNS: the outputs say what. */
function createIdentity(stack: Stack, domain: string, at: number): void {
  const identity = new EmailIdentity(stack, `MailDomain${at}`, { identity: Identity.domain(domain) });
  const records = identity.dkimRecords.map(({ name, value }) => `${name} CNAME ${value}`);
  const mx = `${domain} MX 10 inbound-smtp.${stack.region}.amazonaws.com`;
  stack.addOutputs({ [`MailDns${at}`]: [mx, ...records].join(", ") });
}

/** An account has one active set of rules a region, and CloudFormation cannot choose it: see "Mail" in the README. */
function createRuleSet(stack: Stack, domains: string[], bucket: Bucket): void {
  const set = new CfnReceiptRuleSet(stack, "MailRules", { ruleSetName: mailRuleSet });
  const rule = new CfnReceiptRule(stack, "MailRule", {
    ruleSetName: mailRuleSet,
    rule: {
      name: mailRule,
      enabled: true,
      recipients: domains,
      // Spam and viruses: the function refuses by what SES writes about them.
      scanEnabled: true,
      actions: [{ s3Action: { bucketName: bucket.bucketName, objectKeyPrefix: mailPrefix } }],
    },
  });
  rule.addDependency(set);
}
