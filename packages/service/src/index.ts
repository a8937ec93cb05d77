export { authenticate, demandRole, hasRole, reaches } from "./access/authenticate.ts";
export * from "./analytics/reports.ts";
export { listAudit } from "./audit/audit.ts";
export { changeClient, clientOf, createClient, listClients } from "./clients/clients.ts";
export * from "./credentials/credentials.ts";
export { rotateCredentials } from "./credentials/rotate.ts";
export { listDeliveries, listLabelledDeliveries } from "./deliveries/list.ts";
export { deleteClient, sweepErasures } from "./erasing/delete-client.ts";
export { eraseClient } from "./erasing/erase-client.ts";
export { eraseExecution, eraseStraggler } from "./erasing/erase-run.ts";
export { removeExpiredSessions, removeSession } from "./erasing/remove-session.ts";
export { Conflict, Forbidden, NotFound, Refused, TooMany, Unauthenticated } from "./errors.ts";
export { type ExecuteRequest, execute, executeVersion, hasEnded, untilEnded } from "./executions/execute.ts";
export {
  cancel,
  erase,
  executionWithin,
  listExecutions,
  readExecution,
  readLink,
  verify,
  verifyRuns,
} from "./executions/executions.ts";
export { continueRun, forecastRestart, restart } from "./executions/restart.ts";
export * from "./export/export-client.ts";
export { notifyFailure } from "./failures/notify.ts";
export { sumFormats, surveyAll, surveyPart } from "./formats/survey.ts";
export { reviewCode } from "./generations/review.ts";
export { decodeBodyText, decompressBody } from "./hooks/decode-body.ts";
export { type HookRequest, receiveHook } from "./hooks/receive-hook.ts";
export { createKey, deleteKey, type KeyPorts, listKeys } from "./keys/keys.ts";
export { largestMailBytes } from "./mail/guard.ts";
export { readHeaders, senderOf } from "./mail/headers.ts";
export { receiveMail } from "./mail/receive.ts";
export { MailboxUnreachable } from "./mailboxes/address.ts";
export { pollMailbox } from "./mailboxes/poll.ts";
export { once } from "./once/once.ts";
export * from "./ports/access.ts";
export * from "./ports/archive.ts";
export * from "./ports/audit.ts";
export * from "./ports/clients.ts";
export * from "./ports/deliveries.ts";
export type * from "./ports/index.ts";
export type * from "./ports/mail.ts";
export { everyItem, type Page, type PageQuery, pageFrom } from "./ports/page.ts";
export type * from "./ports/quotas.ts";
export type * from "./ports/sessions.ts";
export type * from "./ports/stats.ts";
export type * from "./ports/triggers.ts";
export type * from "./ports/uploads.ts";
export type * from "./ports/workflow-states.ts";
export { activateVersion, deleteWorkflow } from "./publishing/change.ts";
export { sweepPublications } from "./publishing/hand-over.ts";
export { type Published, publish, validateWorkflow } from "./publishing/publish.ts";
export { publishVersion } from "./publishing/publish-version.ts";
export { setWorkflowPaused, setWorkflowQuotas, workflowQuotas } from "./quotas/workflow-quotas.ts";
export { eraseExpired } from "./retention/keep.ts";
export { addEdge, addNode, changeNode, deleteEdge, deleteNode, editOutput } from "./sessions/edit.ts";
export { publishSession } from "./sessions/publish.ts";
export { readSessionRun, runAlone, runStale, type StartedRun } from "./sessions/run.ts";
export { generateText, nodeValues, renderTemplate } from "./sessions/script-chain.ts";
export {
  createSession,
  deleteSession,
  findNamedSession,
  listSessions,
  readSession,
  type SessionRequest,
} from "./sessions/sessions.ts";
export { describeDraftGraph, nodeViews, type OutputView, sessionOutputs, shownContextOf } from "./sessions/view.ts";
export { sweepService } from "./sweep/sweep-service.ts";
export { emit, putEvent } from "./tasks/events.ts";
export { notifyTask } from "./tasks/notify.ts";
export { answer, listTasks, type NamedTask, readTask, resume, resumeLink } from "./tasks/tasks.ts";
export { fireTrigger } from "./triggers/fire.ts";
export { hookKey, mailKey, ownKey, triggerKey } from "./triggers/key.ts";
export { listSchedules, type ShownSchedule, setSchedulePaused } from "./triggers/schedules.ts";
export { type Arrival, type DeliveryOrigin, recordRefusedDelivery, startFromTrigger } from "./triggers/start.ts";
export { putTriggers, removeTriggers } from "./triggers/sync.ts";
export { requestUpload } from "./uploads/uploads.ts";
export { type Call, callsOf, missingCall } from "./workflows/called.ts";
export { isDraftId } from "./workflows/draft-id.ts";
export { findWorkflow } from "./workflows/find.ts";
export {
  listVersions,
  listWorkflows,
  redactWorkflow,
  type ShownWorkflow,
  showWorkflow,
  sourceOf,
} from "./workflows/show.ts";
