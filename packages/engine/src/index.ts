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
export { shortenResult } from "./attempt/agent/talk.ts";
export type { CloseStatus, Head } from "./chain/entry.ts";
export {
  branchOf,
  branchScope,
  entryName,
  generationId,
  type Identified,
  isItem,
  itemsOf,
  ulidFrom,
} from "./chain/ids.ts";
export { readInput } from "./chain/position.ts";
export { addSpendings, storableNumber } from "./chain/spending.ts";
export { Context } from "./context/context.ts";
export { asReference, asWritten, referenceKey, referencesIn, slimText, wholeValue } from "./context/references.ts";
export { BlobMismatch, BlobMissing, NovaError, recoverFrom, StoreUnavailable } from "./errors.ts";
export { findItems } from "./kinds/map/run-map.ts";
export {
  beginExecution,
  type FileInPlace,
  type FileInput,
  freshProblem,
  type GivenOutcomes,
  InputsRefused,
  newFileMark,
  placeFiles,
  promptNodes,
  type StartFile,
  type StartRequest,
  startExecution,
} from "./kinds/start/start.ts";
export {
  cancelExecution,
  executionEnded,
  failExecution,
  type JoinEvent,
  joinFork,
  requestApproval,
  runNode,
  type SettleEvent,
  type Swept,
  settleNode,
  sweep,
  sweepRuns,
  sweepTasks,
} from "./kinds/table.ts";
export { type Answered, answerTask } from "./kinds/waiting/answer.ts";
export { delegateVote, readVoting, type TaskCall, type Voting, withdrawVote } from "./kinds/waiting/cast-vote.ts";
export { ApproverRefused, mayConcern } from "./kinds/waiting/check-approver.ts";
export { approveCommand, type TaskContents, taskContents } from "./kinds/waiting/contents.ts";
export { deliverEvent } from "./kinds/waiting/events.ts";
export type { RequestEvent } from "./kinds/waiting/request.ts";
export { callLink, executionOfToken } from "./kinds/waiting/resume.ts";
export { noTasks } from "./kinds/waiting/sweep-tasks.ts";
export { demandOpenLink, ownerOfVoteLink, type VoteLink, voteLinks } from "./kinds/waiting/vote-links.ts";
export { type Answer, formOf, type TaskName } from "./kinds/waiting/waiting-task.ts";
export type * from "./ports/blobs.ts";
export type * from "./ports/chain.ts";
export * from "./ports/credentials.ts";
export type * from "./ports/executions.ts";
export type * from "./ports/index.ts";
export type * from "./ports/people.ts";
export { isSamePerson } from "./ports/people.ts";
export * from "./ports/pipeline.ts";
export type * from "./ports/roots.ts";
export * from "./ports/sandboxes.ts";
export type * from "./ports/tasks.ts";
export { createEndings, createInFlight, createTailCache, createWarmPool } from "./process-memory.ts";
export {
  type Inclusion,
  isRootSigned,
  type Root,
  readInclusion,
  readRoot,
  signRoot,
  TreeDamaged,
} from "./proof/root.ts";
export { hashTree, leafBytes, pathInTree } from "./proof/tree.ts";
export { interruptedError, noRuns, type TimeBudget } from "./protocol/end-runs.ts";
export type { CaughtError, NodeEvent, RunPosition, StartInput } from "./protocol/event.ts";
export type { Closed } from "./protocol/record.ts";
export { ExecutionNotFound, executionOf, UnreadableRecord } from "./protocol/record.ts";
export { noOutcome, restartKeyOf } from "./protocol/recorded.ts";
export { mergeBranches } from "./protocol/settle-join.ts";
export { publishWorkflow } from "./publish-workflow.ts";
export {
  buildRecordedOutput,
  buildReplayOutput,
  type Difference,
  diffExecutions,
  differences,
  type NodeDiff,
} from "./restart/diff.ts";
export type { Forecast } from "./restart/restart.ts";
export { planRestart, type RestartRequest, restartExecution } from "./restart/restart.ts";
export { type KeysLookedUp, planReuse, reuseProblem } from "./restart/reuse.ts";
export { RestartRefused } from "./restart/selection.ts";
export { Names, type OutcomeAt, readOutcomeAt, Source } from "./restart/source.ts";
export { sweepIdle } from "./sandboxes/life.ts";
export { mayImportLargeModules } from "./sandboxes/spec.ts";
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
export { type ProofContentsLevel, type ProofRequest, proofContents, writeProof } from "./trace/proof.ts";
export { type AtWork, type NodeAtWork, type RunState, readState, traceTag } from "./trace/read-state.ts";
export { type EntryPage, readEntries, readTrace, readTraceLink, type Trace } from "./trace/read-trace.ts";
export { furtherScopes, type RunHead, runHeads } from "./trace/run-heads.ts";
export { runningLog } from "./trace/running-log.ts";
export type { AiMetadata, TraceBranch, TraceEntry, TraceStep } from "./trace/trace-entry.ts";
export { type Verification, verifyExecution } from "./trace/verify.ts";
