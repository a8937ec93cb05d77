import { join } from "node:path";
import { type Principal, publish, setCredential } from "@nova/service";
import { readWorkflowSource } from "@nova/workflow";
import { createTransport } from "nodemailer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestCloud, type TestCloud } from "../support/cloud.ts";
import { type Dovecot, hasDovecot, openDovecot } from "../support/dovecot/open-dovecot.ts";

const examples = join(import.meta.dirname, "../../packages/examples");
const by: Principal = { id: "key_1", role: "admin", client: null, name: "" };

/** Builds a mail as a mail program sends it. */
async function composed(subject: string, attachments: object[] = []): Promise<Buffer> {
  const transport = createTransport({ streamTransport: true, buffer: true });
  const mail = { from: "Anna Bell <anna@example.com>", to: "in@acme.example", subject, text: "Please pay." };
  return (await transport.sendMail({ ...mail, attachments })).message as Buffer;
}

describe.skipIf(!hasDovecot)("a client's mailbox (needs root and: apt-get install dovecot-imapd)", () => {
  let cloud: TestCloud;
  let dovecot: Dovecot;

  beforeAll(async () => {
    [cloud, dovecot] = await Promise.all([openTestCloud(), openDovecot()]);
    await cloud.service.clients.create({
      format: 1,
      slug: "acme",
      name: "Acme",
      pins: {},
      createdAt: new Date(0).toISOString(),
    });
    const { user, password, port } = dovecot;
    const values = { user, password, imap_host: "127.0.0.1", imap_port: port };
    await setCredential(cloud.service, by, { owner: { client: "acme" }, name: "email", kind: "email", values });
  });
  afterAll(async () => {
    await cloud?.close();
    await dovecot?.close();
  });

  it("is read by the example `read-email`, one mail for each run, with the client's credentials", async () => {
    await dovecot.deliver(
      await composed("Rechnung März", [{ filename: "invoice.pdf", content: Buffer.alloc(50_000, 7) }]),
    );
    const version = await cloud.publish(await readWorkflowSource(join(examples, "read-email")));
    const { execute, readExecution } = await import("@nova/service");
    const contextAfter = async (ulid: string) => {
      const { id } = await execute(cloud.service, by, {
        ulid,
        workflow: version.workflowId,
        client: "acme",
        context: "{}",
      });
      await cloud.untilEnd(id);
      const { context, execution } = await readExecution(cloud.service, id);
      expect(execution.error).toBeUndefined();
      return JSON.parse(context.text);
    };
    expect(await contextAfter("0".repeat(26))).toMatchObject({
      has_emails: true,
      email_from: "anna@example.com",
      email_subject: "Rechnung März",
      has_pdf: true,
      pdf_name: "invoice.pdf",
      pdf_bytes: 50_000,
    });
    expect(await dovecot.flags()).toEqual(["S"]);
    const empty = { has_emails: false, has_pdf: false, branch_decision: false };
    expect(await contextAfter("1".repeat(26))).toEqual(empty);
  });

  it("starts one run for each mail through an imap trigger, which marks the mails as read", async () => {
    await dovecot.deliver(await composed("By trigger", [{ filename: "a.txt", content: "hello" }]));
    const code = "context['said'] = context['email']['attachments'][0]['bytes'].decode()";
    const definition = {
      id: "from-mailbox",
      triggers: [{ type: "imap", client: "acme", every: "1m" }],
      nodes: [
        { id: "start", type: "start" },
        { id: "read", type: "action", code },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "read" },
        { from: "read", to: "end" },
      ],
    };
    await publish(cloud.service, by, { text: JSON.stringify(definition), fileName: "workflow.json", files: {} });
    const { handler } = await import("../../functions/poll-mailbox.ts");
    const time = { awsRequestId: "1", getRemainingTimeInMillis: () => 60_000 };
    const poll = () => handler({ workflow: "from-mailbox", trigger: "imap-1" }, time as never);
    const { deliveries } = (await poll()) as { deliveries: { status: string; execution: string }[] };
    expect(deliveries).toMatchObject([{ status: "started" }]);
    await cloud.untilEnd(deliveries[0]?.execution ?? "");
    const { readExecution } = await import("@nova/service");
    const { context } = await readExecution(cloud.service, deliveries[0]?.execution ?? "");
    expect(JSON.parse(context.text)).toMatchObject({ said: "hello", email_subject: "By trigger" });
    expect(await dovecot.flags()).toEqual(["S", "S"]);
    expect(await poll()).toEqual({ deliveries: [] });
  });
});
