export { authenticate, demandRole, hasRole, reaches } from "./access/authenticate.ts";
export * from "./analytics/reports.ts";
export { listAudit } from "./audit/audit.ts";
export * from "./clients/clients.ts";
export * from "./credentials/credentials.ts";
export * from "./credentials/signing-keys.ts";
export { deleteClient, eraseClient, sweepErasures } from "./erasing/erase-client.ts";
export { eraseExecution, eraseStraggler, removeExpiredSessions, removeSession } from "./erasing/erase-run.ts";
export { Conflict, Forbidden, NotFound, Refused, TooMany, Unauthenticated } from "./errors.ts";
export * from "./executions/execute.ts";
export * from "./executions/executions.ts";
export * from "./export/export-client.ts";
export { decodeBodyText, decompressBody } from "./hooks/decode-body.ts";
export { type HookRequest, receiveHook } from "./hooks/receive-hook.ts";
export { largestMailBytes } from "./mail/guard.ts";
export { readHeaders, senderOf } from "./mail/headers.ts";
export { receiveMail } from "./mail/receive.ts";
export { MailboxUnreachable, pollMailbox } from "./mailboxes/poll.ts";
export { once } from "./once/once.ts";
export * from "./ports/archive.ts";
export * from "./ports/audit.ts";
export * from "./ports/clients.ts";
export * from "./ports/index.ts";
export { everyItem, type Page, type PageQuery, pageFrom } from "./ports/page.ts";
export type * from "./ports/roots.ts";
export type * from "./ports/sessions.ts";
export * from "./ports/triggers.ts";
export type * from "./ports/workflow-states.ts";
export { verifySlice } from "./proof/daily-check.ts";
export { type MadeProof, makeProof } from "./proof/make-proof.ts";
export { newestRoot, type ProvingLimits, type ProvingPorts, proveClosedRuns } from "./proof/prove.ts";
export { listRoots, makeRoot, type ShownRoot } from "./proof/roots.ts";
export { type Proved, proveAndStamp, stampRoots } from "./proof/stamp.ts";
export { activateVersion, deleteWorkflow, reviewCode } from "./publishing/change.ts";
export { type Published, publish, validateWorkflow } from "./publishing/publish.ts";
export { publishVersion, sweepPublications } from "./publishing/publish-version.ts";
export { setWorkflowPaused, setWorkflowQuotas, workflowQuotas } from "./quotas/queue.ts";
export { eraseExpired } from "./retention/keep.ts";
export { type CheckedNode, checkNode } from "./sessions/check.ts";
export { redactSettings } from "./sessions/draft-triggers.ts";
export { changeDraft, type DraftChange, editOutput } from "./sessions/edit.ts";
export { applyToDraft, type DraftOperation, editDraft, findDraftProblems } from "./sessions/operations.ts";
export { checkPublication, publishSession } from "./sessions/publish.ts";
export { readSessionRun, runAlone, runStale, type StartedRun } from "./sessions/run.ts";
export { generateText, nodeValues, renderTemplate } from "./sessions/script-chain.ts";
export * from "./sessions/sessions.ts";
export {
  describeDraftGraph,
  nodeViews,
  type OutputView,
  sessionOutputs,
  shownContextOf,
  viewNodesBeside,
  viewNodesInside,
} from "./sessions/view.ts";
export { sweepService } from "./sweep/sweep-service.ts";
export { notifyFailure, notifyTask } from "./tasks/notify.ts";
export * from "./tasks/tasks.ts";
export { fireTrigger } from "./triggers/fire.ts";
export { listSchedules, type ShownSchedule, setSchedulePaused } from "./triggers/schedules.ts";
export * from "./triggers/start.ts";
export { hookKey, mailKey, ownKey, putTriggers, removeTriggers, triggerKey } from "./triggers/sync.ts";
export { requestUpload } from "./uploads/uploads.ts";
export { type Call, callsOf, missingCall } from "./workflows/called.ts";
export * from "./workflows/find.ts";
