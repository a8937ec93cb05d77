import { EventField, RuleTargetInput } from "aws-cdk-lib/aws-events";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import { CfnReceiptRule, CfnReceiptRuleSet, EmailIdentity, Identity } from "aws-cdk-lib/aws-ses";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { mailPrefix, mailRule, mailRuleSet } from "../access/mail.ts";
import { forwardEvents } from "../engine/rule.ts";
import type { MailSettings } from "../engine/settings.ts";
import type { Stack } from "../sst.ts";

export interface MailParts {
  bucket: Bucket;
  receive: IFunction;
  undelivered: IQueue;
}

/**
 * Receives mail: SES accepts the mail of the domains and writes it into the bucket, and a function handles each object.
 * Without a domain it creates nothing.
 */
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
  // Has the shape of an event of S3, without a custom resource that makes CloudFormation call a Lambda.
  const key = EventField.fromPath("$.detail.object.key");
  const input = RuleTargetInput.fromObject({ Records: [{ s3: { object: { key } } }] });
  forwardEvents(stack, "Mails", { pattern, to: receive, undelivered, input });
}

/** Creates an identity of SES. The stack outputs have the DNS records that prove the ownership of the domain. */
function createIdentity(stack: Stack, domain: string, at: number): void {
  const identity = new EmailIdentity(stack, `MailDomain${at}`, { identity: Identity.domain(domain) });
  const records = identity.dkimRecords.map(({ name, value }) => `${name} CNAME ${value}`);
  const mx = `${domain} MX 10 inbound-smtp.${stack.region}.amazonaws.com`;
  stack.addOutputs({ [`MailDns${at}`]: [mx, ...records].join(", ") });
}

/**
 * Creates the rules. An account has one active rule set per region, and CloudFormation cannot activate it: see "Mail"
 * in the docs.
 */
function createRuleSet(stack: Stack, domains: string[], bucket: Bucket): void {
  const set = new CfnReceiptRuleSet(stack, "MailRules", { ruleSetName: mailRuleSet });
  const rule = new CfnReceiptRule(stack, "MailRule", {
    ruleSetName: mailRuleSet,
    rule: {
      name: mailRule,
      enabled: true,
      recipients: domains,
      // SES scans for spam and viruses; the function refuses mails by the result.
      scanEnabled: true,
      actions: [{ s3Action: { bucketName: bucket.bucketName, objectKeyPrefix: mailPrefix } }],
    },
  });
  rule.addDependency(set);
}
