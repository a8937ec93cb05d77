import {
  describeExecution,
  describeStateMachineForExecution,
  getExecutionHistory,
  listExecutions,
  redriveExecution,
  startExecutionOperation,
  stopExecution,
} from "./executions.ts";
import { listMapRuns } from "./map-runs.ts";
import type { Operation } from "./service.ts";
import {
  createStateMachine,
  deleteStateMachine,
  describeStateMachine,
  listStateMachines,
  updateStateMachine,
} from "./state-machines.ts";
import { listTagsForResource, tagResource, untagResource } from "./tags.ts";
import { sendTaskFailure, sendTaskHeartbeat, sendTaskSuccess } from "./tasks.ts";
import {
  deleteStateMachineVersion,
  listStateMachineAliases,
  listStateMachineVersions,
  publishStateMachineVersion,
  validateStateMachineDefinition,
} from "./versions.ts";

/** The operations of the Step Functions API that the local cloud serves. */
export const operations: Record<string, Operation> = {
  CreateStateMachine: createStateMachine,
  UpdateStateMachine: updateStateMachine,
  DescribeStateMachine: describeStateMachine,
  ListStateMachines: listStateMachines,
  DeleteStateMachine: deleteStateMachine,
  PublishStateMachineVersion: publishStateMachineVersion,
  ListStateMachineVersions: listStateMachineVersions,
  ListStateMachineAliases: listStateMachineAliases,
  DeleteStateMachineVersion: deleteStateMachineVersion,
  ValidateStateMachineDefinition: validateStateMachineDefinition,
  StartExecution: startExecutionOperation,
  StopExecution: stopExecution,
  RedriveExecution: redriveExecution,
  DescribeExecution: describeExecution,
  DescribeStateMachineForExecution: describeStateMachineForExecution,
  ListExecutions: listExecutions,
  GetExecutionHistory: getExecutionHistory,
  ListMapRuns: listMapRuns,
  SendTaskSuccess: sendTaskSuccess,
  SendTaskFailure: sendTaskFailure,
  SendTaskHeartbeat: sendTaskHeartbeat,
  TagResource: tagResource,
  UntagResource: untagResource,
  ListTagsForResource: listTagsForResource,
};
