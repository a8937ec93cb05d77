/** What is used of it, by name: a bundle leaves the rest out. */
export { SESv2Client, SendEmailCommand } from "@aws-sdk/client-sesv2";
