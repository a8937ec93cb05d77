export { kmsClient, s3Client } from "./clients/clients.ts";
export { offerService } from "./clients/own-services.ts";
export { createKeySigner, createKmsSigner } from "./crypto/vaults.ts";
export { createTable } from "./dynamodb/table.ts";
export { createMailer } from "./mailer.ts";
export { createServiceStores } from "./service-stores.ts";
export { createEventRules, createSchedules } from "./triggers.ts";
