import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { EventArns } from "../access/events-and-schedules.ts";

/** Rules of triggers come and go with publications: any of their names may invoke the function that starts runs. */
export function letRulesFire(fire: IFunction, { rules }: EventArns): void {
  const principal = new ServicePrincipal("events.amazonaws.com");
  for (const [at, sourceArn] of rules.entries()) fire.addPermission(`Rules${at}`, { principal, sourceArn });
}
