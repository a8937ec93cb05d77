import type { StateType } from "./state.ts";

/** Which fields each part of a definition may have; AWS refuses any other. `Assign`, `Output` and the like are JSONata's. */

const common = ["Type", "Comment", "QueryLanguage"];
const paths = ["InputPath", "OutputPath"];
const transition = ["Next", "End"];
const result = ["ResultSelector", "ResultPath"];
const handling = ["Retry", "Catch"];

export const stateFields: Record<StateType, ReadonlySet<string>> = {
  Task: new Set([
    ...[...common, ...paths, ...transition, ...result, ...handling],
    ...["Resource", "Parameters", "Credentials"],
    ...["TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath"],
  ]),
  Pass: new Set([...common, ...paths, ...transition, "Parameters", "Result", "ResultPath"]),
  Choice: new Set([...common, ...paths, "Choices", "Default"]),
  Wait: new Set([...common, ...paths, ...transition, "Seconds", "SecondsPath", "Timestamp", "TimestampPath"]),
  Succeed: new Set([...common, ...paths]),
  Fail: new Set([...common, "Error", "ErrorPath", "Cause", "CausePath"]),
  Parallel: new Set([...common, ...paths, ...transition, ...result, ...handling, "Parameters", "Branches"]),
  Map: new Set([
    ...[...common, ...paths, ...transition, ...result, ...handling],
    ...["ItemProcessor", "Iterator", "ItemsPath", "ItemSelector", "Parameters", "MaxConcurrency", "MaxConcurrencyPath"],
  ]),
};

/** What a Map may have besides when its items are executions of their own. */
export const distributedMapFields: ReadonlySet<string> = new Set([
  ...stateFields.Map,
  ...["ItemReader", "ItemBatcher", "ResultWriter", "Label"],
  ...["ToleratedFailureCount", "ToleratedFailureCountPath"],
  ...["ToleratedFailurePercentage", "ToleratedFailurePercentagePath"],
]);

const body = ["StartAt", "States", "Comment", "QueryLanguage"];
export const machineFields: ReadonlySet<string> = new Set([...body, "TimeoutSeconds", "Version"]);
export const branchFields: ReadonlySet<string> = new Set(body);
export const readerFields: ReadonlySet<string> = new Set(["Resource", "ReaderConfig", "Parameters"]);
export const processorFields: ReadonlySet<string> = new Set([...body, "ProcessorConfig"]);

export const retrierFields: ReadonlySet<string> = new Set([
  ...["ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate", "MaxDelaySeconds", "JitterStrategy", "Comment"],
]);
export const catcherFields: ReadonlySet<string> = new Set(["ErrorEquals", "Next", "ResultPath", "Comment"]);
