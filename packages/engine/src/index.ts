export {
  deepestNesting,
  type ExactValue,
  elementsOf,
  isRawNumber,
  jsonProblem,
  type Member,
  maskValue,
  measureOf,
  membersOf,
  NotStrictJson,
  objectText,
  parsedOrNot,
  parseExact,
  RawJson,
  renderJson,
  StrictJson,
  Utf8Check,
  valueAt,
} from "@nova/workflow";
export { atOnce } from "./at-once.ts";
export { generationId, type Identified } from "./chain/generation-id.ts";
export type { CloseStatus, Head } from "./chain/head.ts";
export { linkName, ulidFrom } from "./chain/link-name.ts";
export { branchScope, itemsOf } from "./chain/scope.ts";
export { addSpendings } from "./chain/spending.ts";
export { storableNumber } from "./chain/storable.ts";
export { Context } from "./context/context.ts";
export { asReference, asWritten, referenceKey, referencesIn, slimText } from "./context/references.ts";
export { wholeValue } from "./context/whole-value.ts";
export { BlobMismatch, BlobMissing, NovaError, StoreUnavailable } from "./errors.ts";
export {
  cancelExecution,
  executionEnded,
  failExecution,
  requestApproval,
  type Swept,
  sweep,
  sweepRuns,
  sweepTasks,
} from "./kinds/executions.ts";
export { type JoinEvent, joinFork } from "./kinds/join-fork.ts";
export {
  type FileInPlace,
  type FileInput,
  InputsRefused,
  newFileMark,
  placeFiles,
  type StartFile,
} from "./kinds/start/given.ts";
export {
  beginExecution,
  freshProblem,
  type GivenOutcomes,
  promptNodes,
  type StartRequest,
  startExecution,
} from "./kinds/start/start.ts";
export { runNode, type SettleEvent, settleNode } from "./kinds/table.ts";
export { type Answer, type Answered, answerTask, formOf } from "./kinds/waiting/answer.ts";
export { type TaskContents, taskContents } from "./kinds/waiting/contents.ts";
export { deliverEvent } from "./kinds/waiting/events.ts";
export type { TaskName } from "./kinds/waiting/find-task.ts";
export { approveCommand } from "./kinds/waiting/message.ts";
export type { RequestEvent } from "./kinds/waiting/request.ts";
export { callLink, executionOfToken } from "./kinds/waiting/resume.ts";
export { noTasks } from "./kinds/waiting/sweep-tasks.ts";
export type * from "./ports/blobs.ts";
export type * from "./ports/chain.ts";
export type * from "./ports/credentials.ts";
export { HostRefused, type OutgoingFetch } from "./ports/credentials.ts";
export type * from "./ports/executions.ts";
export type * from "./ports/index.ts";
export type * from "./ports/pipeline.ts";
export type * from "./ports/pipeline.ts";
export { noCode, pinnedPlaces } from "./ports/pipeline.ts";
export type * from "./ports/sandboxes.ts";
export type * from "./ports/tasks.ts";
export { createEndings, createInFlight, createTailCache, createWarmPool } from "./process-memory.ts";
export { interruptedError, noRuns, type TimeBudget } from "./protocol/end-runs.ts";
export type { CaughtError, NodeEvent, RunPosition, StartInput } from "./protocol/event.ts";
export type { Closed } from "./protocol/finish-close.ts";
export { restartKeyOf } from "./protocol/place-name.ts";
export { noOutcome } from "./protocol/recorded.ts";
export { mergeBranches } from "./protocol/settle-join.ts";
export { ExecutionNotFound, executionOf, UnreadableRecord } from "./protocol/status.ts";
export { publishWorkflow } from "./publish-workflow.ts";
export { diffExecutions, type NodeDiff } from "./restart/diff.ts";
export { type Difference, differences } from "./restart/differences.ts";
export type { Forecast } from "./restart/forecast.ts";
export { type OutcomeAt, readOutcomeAt } from "./restart/outcome-at.ts";
export { buildRecordedOutput, buildReplayOutput } from "./restart/output.ts";
export { planRestart, type RestartRequest, restartExecution } from "./restart/restart.ts";
export { type KeysLookedUp, planReuse, reuseProblem } from "./restart/reuse.ts";
export { RestartRefused } from "./restart/selection.ts";
export { Names, Source } from "./restart/source.ts";
export { mayImportPackages } from "./sandboxes/spec.ts";
export { sweepIdle } from "./sandboxes/sweep-idle.ts";
export {
  CredentialLocked,
  type CredentialValues,
  checkValues,
  kindNames as credentialKindNames,
  openContent,
  ownerText,
  replacing,
  sealRecord,
} from "./secrets/credential-kinds.ts";
export { createCredentials } from "./secrets/credentials.ts";
export { maskCredentials, secretKeysOf, shownContext } from "./secrets/redactor.ts";
export { redactorFor } from "./secrets/secret-inputs.ts";
export { sha256 } from "./sha256.ts";
export { erasureText } from "./trace/content-check.ts";
export { erasedWords } from "./trace/misfit.ts";
export type { AtWork, NodeAtWork } from "./trace/read-trace.ts";
export { readTrace, readTraceLink, type Trace, traceTag } from "./trace/read-trace.ts";
export { furtherScopes, type RunHead, runHeads } from "./trace/run-heads.ts";
export { runningLog } from "./trace/running-log.ts";
export type { AiMetadata, TraceBranch, TraceEntry, TraceStep } from "./trace/trace-entry.ts";
export { type Verification, verifyExecution } from "./trace/verify.ts";
