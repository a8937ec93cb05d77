import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { RemovalPolicy } from "aws-cdk-lib/core";

export interface Stage {
  name: string;
  /** True for the stage `production`: its data outlives its stacks and is protected against deletion. */
  isProduction: boolean;
  /** Removal policy of resources with data or keys. */
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
