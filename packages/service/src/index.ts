export { authenticate, demandRole, hasRole, reaches } from "./access/authenticate.ts";
export { type IssuerOptions, trustIssuer } from "./access/issuer.ts";
export { createRates } from "./access/rates.ts";
export {
  type CostReport,
  costReports,
  type ErrorReport,
  errorReports,
  type NodeReport,
  nodeReports,
  statsWithin,
  type WorkflowReport,
  workflowReports,
} from "./analytics/reports.ts";
export { listAudit } from "./audit/audit.ts";
export { changeClient, clientOf, createClient, demandClient, listClients, withVariables } from "./clients/clients.ts";
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
export { eraseExecution, eraseStraggler } from "./erasing/erase-run.ts";
export { Conflict, Forbidden, IssuerUnreachable, NotFound, Refused, TooMany, Unauthenticated } from "./errors.ts";
export { type ExecuteRequest, execute, hasEnded, untilEnded } from "./executions/execute.ts";
export { cancel, executionWithin, listExecutions, readExecution, readLink } from "./executions/executions.ts";
export {
  digestAfter,
  type ExportRecord,
  emptyDigest,
  exportClient,
  isSealed,
  type Sealed,
  sealExport,
} from "./export/export-client.ts";
export { type FailedRun, type Notified, notifyFailure } from "./failures/notify.ts";
export { createPoster, PostFailed } from "./failures/poster.ts";
export { sumOfFormats, surveyAll, surveyPart } from "./formats/survey.ts";
export { type HookRequest, receiveHook, type TakenHook } from "./hooks/receive-hook.ts";
export { createKey, deleteKey, type KeyPorts, type KeyRequest, listKeys, type NewKey } from "./keys/keys.ts";
export { dmarcPolicies } from "./mail/dmarc.ts";
export { largestMailBytes } from "./mail/guard.ts";
export { readHeaders, senderOf } from "./mail/headers.ts";
export { receiveMail } from "./mail/receive.ts";
export { MailboxUnreachable } from "./mailboxes/address.ts";
export { imapMailboxes } from "./mailboxes/imap.ts";
export { pollMailbox } from "./mailboxes/poll.ts";
export { type OnceRequest, once } from "./once/once.ts";
export type * from "./ports/access.ts";
export { type ApiKey, type KeyStore, type Role, roles } from "./ports/access.ts";
export type * from "./ports/archive.ts";
export * from "./ports/archive.ts";
export { type AuditAction, type AuditLog, type AuditRecord, auditActions } from "./ports/audit.ts";
export type * from "./ports/clients.ts";
export { defaultClient } from "./ports/clients.ts";
export {
  type Delivery,
  type DeliveryQuery,
  type DeliveryStatus,
  type DeliveryStore,
  deliveryStatuses,
} from "./ports/deliveries.ts";
export type * from "./ports/index.ts";
export type * from "./ports/mail.ts";
export { type Page, type PageQuery, pageFrom } from "./ports/page.ts";
export type * from "./ports/quotas.ts";
export type * from "./ports/stats.ts";
export type * from "./ports/triggers.ts";
export type * from "./ports/uploads.ts";
export type * from "./ports/workflow-states.ts";
export { activateVersion, deleteWorkflow } from "./publishing/change.ts";
export { sweepPublications } from "./publishing/hand-over.ts";
export { demandValid, type Published, publish, validateWorkflow } from "./publishing/publish.ts";
export { publishVersion } from "./publishing/publish-version.ts";
export { pauseWorkflow, resumeWorkflow, setWorkflowQuotas, workflowQuotas } from "./quotas/workflow-quotas.ts";
export { eraseExpired, type Retained } from "./retention/keep.ts";
export { sweepService } from "./sweep/sweep-service.ts";
export { emit, envelopeOf, putEvent } from "./tasks/events.ts";
export { type AskedTask, notifyTask } from "./tasks/notify.ts";
export { answer, listTasks, resume, resumeLink, type TaskAnswer } from "./tasks/tasks.ts";
export { type Fired, type Firing, fireTrigger } from "./triggers/fire.ts";
export { hookKey, mailKey, ownKey, triggerKey } from "./triggers/key.ts";
export { listSchedules, pauseSchedule, resumeSchedule, type ShownSchedule } from "./triggers/schedules.ts";
export { type Arrival, recordUnstarted, startFromTrigger, type Unstarted } from "./triggers/start.ts";
export { putTriggers, removeTriggers } from "./triggers/sync.ts";
export { placeUploads, type RequestedUpload, requestUpload, type UploadRequest } from "./uploads/uploads.ts";
export { type Call, callsOf, missingCall } from "./workflows/called.ts";
export { type FoundWorkflow, findWorkflow } from "./workflows/find.ts";
export { listVersions, listWorkflows, type ShownWorkflow, seenBy, showWorkflow, sourceOf } from "./workflows/show.ts";
