import type { Policy } from "aws-cdk-lib/aws-iam";
import { explain } from "../findings.ts";

/** The only reasons why a policy of a function may name several resources. */
const reasons: Record<string, { regex: string }> = {
  "Objects of one prefix, written by this function or one like it.": {
    regex: "/^Resource::.*Bucket.*\\/(blobs|events|mail|uploads|workflows)\\/\\*$/",
  },
  "State machines that publishing makes: nova-<workflow>, unknown to any stack.": {
    regex: "/^Resource::arn:.*:states:.*:(stateMachine|execution):nova-(draft-)?\\*(:\\*)?$/",
  },
  "Rules and schedules of triggers, which publishing makes: nova-<workflow>-<trigger>.": {
    regex: "/^Resource::arn:.*:(events:.*:rule\\/(nova\\/)?|scheduler:.*:schedule\\/nova\\/)nova-\\*$/",
  },
  "Log streams of the one log group.": { regex: "/^Resource::<.*Logs.*Arn>$/" },
};

export function explainWildcards(policy: Policy): void {
  for (const [reason, only] of Object.entries(reasons)) explain(policy, "AwsSolutions-IAM5", reason, [only]);
}
