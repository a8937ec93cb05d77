export { authenticate, demandRole } from "./access/authenticate.ts";
export { type IssuerOptions, trustIssuer } from "./access/issuer.ts";
export { hasRole, reaches } from "./access/principal.ts";
export { createRates } from "./access/rates.ts";
export { statsWithin } from "./analytics/read.ts";
export {
  type CostReport,
  costReports,
  type ErrorReport,
  errorReports,
  type NodeReport,
  nodeReports,
  type WorkflowReport,
  workflowReports,
} from "./analytics/reports.ts";
export { listAudit } from "./audit/list.ts";
export { changeClient, clientOf, createClient, demandClient, listClients } from "./clients/clients.ts";
export { withVariables } from "./clients/variables.ts";
export {
  type CredentialInfo,
  credentialOf,
  listCredentials,
  removeCredential,
  removeCredentialsOf,
  setCredential,
} from "./credentials/credentials.ts";
export { type Rotated, rotateCredentials } from "./credentials/rotate.ts";
export { listDeliveries } from "./deliveries/list.ts";
export { deleteClient, sweepErasures } from "./erasing/delete-client.ts";
export { eraseClient } from "./erasing/erase-client.ts";
export { eraseExecution } from "./erasing/erase-execution.ts";
export { eraseStraggler } from "./erasing/stragglers.ts";
export { Conflict, Forbidden, IssuerUnreachable, NotFound, Refused, TooMany, Unauthenticated } from "./errors.ts";
export { cancel } from "./executions/cancel.ts";
export { type ExecuteRequest, execute, hasEnded, untilEnded } from "./executions/execute.ts";
export { executionWithin, listExecutions } from "./executions/find.ts";
export { readExecution, readLink } from "./executions/read.ts";
export { type ExportRecord, exportClient } from "./export/export-client.ts";
export { digestAfter, emptyDigest, isSealed, type Sealed, sealExport } from "./export/seal.ts";
export { type FailedRun, type Notified, notifyFailure } from "./failures/notify.ts";
export { createPoster, PostFailed } from "./failures/poster.ts";
export { sumOfFormats, surveyAll, surveyPart } from "./formats/survey.ts";
export { type HookRequest, receiveHook, type TakenHook } from "./hooks/receive-hook.ts";
export { createKey, deleteKey, type KeyPorts, type KeyRequest, listKeys, type NewKey } from "./keys/keys.ts";
export { dmarcPolicies } from "./mail/dmarc.ts";
export { largestMailBytes } from "./mail/guard.ts";
export { readHeaders } from "./mail/headers.ts";
export { receiveMail } from "./mail/receive.ts";
export { senderOf } from "./mail/sender.ts";
export { imapMailboxes } from "./mailboxes/imap.ts";
export { pollMailbox } from "./mailboxes/poll.ts";
export { MailboxUnreachable } from "./mailboxes/unreachable.ts";
export { type OnceRequest, once } from "./once/once.ts";
export type * from "./ports/access.ts";
export type * from "./ports/archive.ts";
export type * from "./ports/attempts.ts";
export { type AuditAction, type AuditLog, type AuditRecord, auditActions } from "./ports/audit.ts";
export type * from "./ports/blob-links.ts";
export type * from "./ports/bus.ts";
export type * from "./ports/clients.ts";
export { defaultClient } from "./ports/clients.ts";
export {
  type Delivery,
  type DeliveryQuery,
  type DeliveryStatus,
  type DeliveryStore,
  deliveryStatuses,
} from "./ports/deliveries.ts";
export type * from "./ports/erasing.ts";
export * from "./ports/formats.ts";
export type * from "./ports/index.ts";
export { type ApiKey, type KeyStore, type Role, roles } from "./ports/keys.ts";
export type * from "./ports/machine-versions.ts";
export type * from "./ports/mail.ts";
export type * from "./ports/notices.ts";
export { type Page, type PageQuery, pageFrom } from "./ports/page.ts";
export type * from "./ports/publications.ts";
export type * from "./ports/quotas.ts";
export type * from "./ports/schedules.ts";
export type * from "./ports/slots.ts";
export type * from "./ports/spending.ts";
export type * from "./ports/stats.ts";
export type * from "./ports/triggers.ts";
export type * from "./ports/uploads.ts";
export type * from "./ports/workflow-states.ts";
export { activateVersion, deleteWorkflow } from "./publishing/change.ts";
export { type Published, publish } from "./publishing/publish.ts";
export { publishVersion } from "./publishing/publish-version.ts";
export { sweepPublications } from "./publishing/sweep-publications.ts";
export { demandValid, validateWorkflow } from "./publishing/validate.ts";
export { pauseWorkflow, resumeWorkflow } from "./quotas/pause.ts";
export { setWorkflowQuotas, workflowQuotas } from "./quotas/workflow-quotas.ts";
export { eraseExpired, type Retained } from "./retention/keep.ts";
export { sweepService } from "./sweep/sweep-service.ts";
export { emit, envelopeOf } from "./tasks/emit.ts";
export { type AskedTask, notifyTask } from "./tasks/notify.ts";
export { putEvent } from "./tasks/put-event.ts";
export { resume, resumeLink } from "./tasks/resume.ts";
export { answer, listTasks, type TaskAnswer } from "./tasks/tasks.ts";
export { type Fired, type Firing, fireTrigger } from "./triggers/fire.ts";
export { hookKey, mailKey, ownKey, triggerKey } from "./triggers/key.ts";
export { listSchedules, pauseSchedule, resumeSchedule, type ShownSchedule } from "./triggers/schedules.ts";
export { type Arrival, recordUnstarted, startFromTrigger, type Unstarted } from "./triggers/start.ts";
export { putTriggers, removeTriggers } from "./triggers/sync.ts";
export { placeUploads } from "./uploads/place.ts";
export { type RequestedUpload, requestUpload, type UploadRequest } from "./uploads/ticket.ts";
export { type Call, callsOf, missingCall } from "./workflows/called.ts";
export { type FoundWorkflow, findWorkflow } from "./workflows/find.ts";
export { seenBy } from "./workflows/seen-by.ts";
export { listVersions, listWorkflows, type ShownWorkflow, showWorkflow } from "./workflows/show.ts";
export { sourceOf } from "./workflows/source.ts";
