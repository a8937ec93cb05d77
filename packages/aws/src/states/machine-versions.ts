import {
  DeleteStateMachineVersionCommand,
  ListStateMachineVersionsCommand,
  type ListStateMachineVersionsCommandOutput,
  type SFNClient,
} from "@aws-sdk/client-sfn";
import type { MachineVersions } from "@nova/service";
import { reaching } from "../clients/outage.ts";
import { unversioned } from "./names.ts";

const service = "Step Functions";

/** The client is made by the first call: most functions make none. */
export function createMachineVersions(makeClient: () => SFNClient): MachineVersions {
  let client: SFNClient | undefined;
  const send = () => (client ??= makeClient());
  return {
    async list(versionArn) {
      const arns: string[] = [];
      let nextToken: string | undefined;
      do {
        const page = new ListStateMachineVersionsCommand({ stateMachineArn: unversioned(versionArn), nextToken });
        const found: ListStateMachineVersionsCommandOutput = await reaching(service, () => send().send(page));
        for (const { stateMachineVersionArn: arn } of found.stateMachineVersions ?? []) if (arn) arns.push(arn);
        nextToken = found.nextToken;
      } while (nextToken);
      return arns;
    },
    async remove(versionArn) {
      const removal = new DeleteStateMachineVersionCommand({ stateMachineVersionArn: versionArn });
      await reaching(service, () => send().send(removal));
    },
  };
}
