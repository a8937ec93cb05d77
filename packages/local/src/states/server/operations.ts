import {
  describeExecution,
  describeStateMachineForExecution,
  getExecutionHistory,
  listExecutions,
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
import { sendTaskFailure, sendTaskSuccess } from "./tasks.ts";
import {
  deleteStateMachineVersion,
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
  DeleteStateMachineVersion: deleteStateMachineVersion,
  ValidateStateMachineDefinition: validateStateMachineDefinition,
  StartExecution: startExecutionOperation,
  StopExecution: stopExecution,
  DescribeExecution: describeExecution,
  DescribeStateMachineForExecution: describeStateMachineForExecution,
  ListExecutions: listExecutions,
  GetExecutionHistory: getExecutionHistory,
  ListMapRuns: listMapRuns,
  SendTaskSuccess: sendTaskSuccess,
  SendTaskFailure: sendTaskFailure,
};
