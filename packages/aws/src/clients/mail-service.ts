import { patientRetries } from "./retries.ts";
import { requestHandler, whenNeeded } from "./when-needed.ts";

/** The client of SES beside its commands. */
export const mailService = () =>
  whenNeeded(async () => {
    const sdk = await import("./sdk/mail-service.ts");
    return { sdk, client: new sdk.SESv2Client({ retryStrategy: patientRetries(), requestHandler }) };
  });
