import { type MailServer, openMail } from "@nova/local";
import { readExecution } from "@nova/service";
import { createTransport } from "nodemailer";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openTestCloud, type TestCloud } from "../support/cloud.ts";

const definition = {
  id: "invoice-mails",
  triggers: [{ type: "mail", address: "invoices", from: ["@supplier.example"] }],
  nodes: [
    { id: "start", type: "start" },
    {
      id: "read",
      type: "action",
      code: [
        "pdf = context['email']['attachments'][0]",
        "context['seen'] = [pdf['name'], pdf['type'], len(pdf['bytes']), pdf['bytes'][:5].decode()]",
        "context['answer_to'] = context['email_from']",
      ].join("\n"),
    },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "read" },
    { from: "read", to: "end" },
  ],
};

let cloud: TestCloud;
let server: MailServer;

beforeAll(async () => {
  cloud = await openTestCloud();
  const { createClient, publish } = await import("@nova/service");
  const by = { id: "key_1", role: "admin", client: null, name: "" } as const;
  await createClient(cloud.service, by, { slug: "idom", name: "Idom" });
  const text = JSON.stringify(definition);
  await publish(cloud.service, by, { text, fileName: "workflow.json", files: {} });
  server = await openMail(cloud, { port: 0 });
});
afterAll(async () => {
  await server?.close();
  await cloud?.close();
});

function send(from: string, to: string) {
  const transport = createTransport({ host: "127.0.0.1", port: server.port, secure: false });
  const pdf = Buffer.concat([Buffer.from("%PDF-1.7"), Buffer.alloc(300_000, 7)]);
  const attachments = [{ filename: "Rechnung März.pdf", contentType: "application/pdf", content: pdf }];
  return transport.sendMail({ from, to, subject: "Invoice", text: "Please pay", attachments });
}

const delivered = (status: "started" | "refused") =>
  vi.waitFor(async () => {
    const [found] = await cloud.service.deliveries.list({ client: "idom", status, limit: 1 });
    if (!found) throw new RangeError(`nothing was ${status} yet`);
    return found;
  }, 20_000);

it("a mail received over SMTP starts a run that gets the attachment as bytes", async () => {
  await send("anna@supplier.example", "invoices+idom@in.example.com");
  const { execution, workflow, client } = await delivered("started");
  expect([workflow, client]).toEqual(["invoice-mails", "idom"]);
  await cloud.untilEnd(execution ?? "");
  const { context, execution: record } = await readExecution(cloud.service, execution ?? "");
  expect(record).toMatchObject({ status: "completed", client: "idom" });
  expect(JSON.parse(context.text)).toMatchObject({
    seen: ["Rechnung März.pdf", "application/pdf", 300_008, "%PDF-"],
    answer_to: "anna@supplier.example",
  });
});

it("a mail from a sender who is not listed in the trigger starts no run, and its delivery is recorded as refused", async () => {
  await send("eve@elsewhere.example", "invoices+idom@in.example.com");
  expect(await delivered("refused")).toMatchObject({
    execution: null,
    from: "eve@elsewhere.example",
    about: "Invoice",
    reason: expect.stringMatching(/not in the trigger's list/),
  });
});
