export type { Counters } from "./cloud/counters.ts";
export type { CloudOptions } from "./cloud/endpoints.ts";
export { LocalCloudError, OwnerGone } from "./cloud/errors.ts";
export type { LocalCloud } from "./cloud/local-cloud.ts";
export { openLocalCloud } from "./cloud/open.ts";
export type { NodeEvent } from "./cloud/progress.ts";
export { ensurePython, PythonMissing } from "./cloud/python-packages.ts";
export { type CaughtMail, type MailCatcher, openMailCatcher } from "./mail/catcher.ts";
