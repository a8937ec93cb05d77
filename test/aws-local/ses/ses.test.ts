import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SESv2Client, SendEmailCommand, type SendEmailCommandInput } from "@aws-sdk/client-sesv2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSes } from "../../../packages/aws-local/src/ses/open-ses.ts";
import type { Listening } from "../../../packages/serve-local/src/http-server.ts";
import { signedFetch } from "../support/signed.ts";

let dataDir: string;
let ses: Listening;
let client: SESv2Client;

const clientWith = (accessKeyId: string) =>
  new SESv2Client({
    endpoint: ses.url,
    region: "us-east-1",
    maxAttempts: 1,
    credentials: { accessKeyId, secretAccessKey: "s" },
  });

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nova-ses-"));
  ses = await openSes({ dataDir, accessKeyId: "key", secretAccessKey: "s" });
  client = clientWith("key");
});
afterAll(async () => {
  client.destroy();
  await ses.close();
  await rm(dataDir, { recursive: true });
});

async function sent(input: Partial<SendEmailCommandInput>): Promise<string> {
  const command = new SendEmailCommand({ FromEmailAddress: "nova@example.com", Content: {}, ...input });
  const { MessageId } = await client.send(command);
  return readFile(join(dataDir, "mail", `${MessageId}.eml`), "utf8");
}

describe("a mail that is sent through the local SES", () => {
  it("becomes a file with its sender, recipients, subject and texts", async () => {
    const mail = await sent({
      Destination: { ToAddresses: ["a@example.com"], CcAddresses: ["b@example.com"] },
      Content: { Simple: { Subject: { Data: "It failed" }, Body: { Text: { Data: "Why: x" } } } },
    });
    expect(mail).toMatch(/^From: nova@example.com\r?\nTo: a@example.com\r?\nCc: b@example.com\r?\nSubject: It failed/);
    expect(mail).toMatch(/\r?\n\r?\nWhy: x/);
  });

  it("becomes an unchanged file if the client sends it as a complete raw mail", async () => {
    const raw = "From: a@b\r\n\r\nünï";
    expect(await sent({ Content: { Raw: { Data: Buffer.from(raw) } } })).toBe(raw);
  });

  it.each<[string, Partial<SendEmailCommandInput>]>([
    ["no content", { Content: {} }],
    ["a template", { Content: { Template: { TemplateName: "x" } } }],
  ])("is refused if it has this content: %s", async (_what, input) => {
    const before = await readdir(join(dataDir, "mail"));
    await expect(sent(input)).rejects.toMatchObject({
      name: "BadRequestException",
      message: expect.stringMatching(/^Content must be Raw, or Simple .+\.$/),
    });
    expect(await readdir(join(dataDir, "mail"))).toEqual(before);
  });
});

it("a request to the local SES is refused if it is signed with another key, or names an unknown operation", async () => {
  const other = clientWith("other");
  const send = other.send(new SendEmailCommand({ Content: { Raw: { Data: Buffer.from("x") } } }));
  await expect(send).rejects.toMatchObject({ name: "UnrecognizedClientException" });
  const key = { accessKeyId: "key", secretAccessKey: "s" };
  const answer = await signedFetch("ses", key, `${ses.url}/v2/email/identities`);
  expect([answer.status, await answer.text()]).toEqual([
    404,
    expect.stringMatching(/The local SES \(v2\) does not serve GET \/v2\/email\/identities\. It serves SendEmail\./),
  ]);
});
