/** This file exports single names, so that the bundler drops the rest of the SDK. */
export { SESv2Client, SendEmailCommand } from "@aws-sdk/client-sesv2";
