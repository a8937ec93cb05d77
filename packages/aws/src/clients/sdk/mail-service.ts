/** Named exports let the bundler drop the rest of the SDK. */
export { SESv2Client, SendEmailCommand } from "@aws-sdk/client-sesv2";
