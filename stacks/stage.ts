import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { RemovalPolicy } from "aws-cdk-lib/core";

/** What depends on where NOVA is deployed. */
export interface Stage {
  name: string;
  /** Only the stage `production`: what it stores outlives its stacks and cannot be deleted by accident. */
  isProduction: boolean;
  /** Of what holds data or keys. */
  removal: RemovalPolicy;
  logRetention: RetentionDays;
}

export function stageOf({ stage }: { stage: string }): Stage {
  const isProduction = stage === "production";
  return {
    name: stage,
    isProduction,
    removal: isProduction ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    logRetention: isProduction ? RetentionDays.THREE_MONTHS : RetentionDays.ONE_WEEK,
  };
}
