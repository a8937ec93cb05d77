import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type MailCatcher, type MailServer, openMailCatcher, openMailServer } from "../../packages/local/src/mail.ts";
import { readHeaders } from "../../packages/service/src/mail/headers.ts";
import { receivedFor, sesHeaders, verdictsOf } from "../../packages/service/src/mail/ses-headers.ts";

let stored: { key: string; raw: Buffer }[];
let failure: Error | undefined;
let server: MailServer;

beforeEach(async () => {
  [stored, failure] = [[], undefined];
  server = await openMailServer({
    port: 0,
    async store(key, raw) {
      if (failure) throw failure;
      stored.push({ key, raw });
    },
  });
});
afterEach(() => server.close());

const mail = { from: "anna@example.com", to: ["a+b@in.example", "c@in.example"], subject: "Hello", text: "Hi" };

async function send(changes: object = {}): Promise<string> {
  const transport = createTransport({ host: "127.0.0.1", port: server.port, secure: false });
  try {
    return (await transport.sendMail({ ...mail, ...changes })).response;
  } finally {
    transport.close();
  }
}

it("the local SES stores a mail once for all of its recipients, with the headers of SES at its top", async () => {
  expect(await send({ bcc: "d@in.example" })).toMatch(/^250 OK [0-9a-z]{26}$/);
  expect(stored.map(({ key }) => key)).toEqual([expect.stringMatching(/^mail\/[0-9a-z]{26}$/)]);
  const headers = readHeaders(stored[0]?.raw ?? Buffer.alloc(0)) ?? [];
  const ses = sesHeaders(headers);
  expect(receivedFor(ses)).toEqual(["a+b@in.example", "c@in.example", "d@in.example"]);
  expect(verdictsOf(ses)).toEqual({ spam: "PASS", virus: "PASS", provenDomain: "example.com" });
  expect(ses.map(({ name }) => name)).not.toContain("subject");
  expect(headers.find(({ name }) => name === "subject")?.value).toBe("Hello");
});

it("the local SES confirms the domain of the sender in the header of a mail, not the domain of the sender in the SMTP envelope", async () => {
  await send({ envelope: { from: "bounce@other.example", to: mail.to } });
  const ses = sesHeaders(readHeaders(stored[0]?.raw ?? Buffer.alloc(0)) ?? []);
  expect(verdictsOf(ses).provenDomain).toBe("example.com");
});

it("the local SES returns a temporary error to the sender if it cannot store a mail", async () => {
  failure = new Error("the disk is full");
  await expect(send()).rejects.toThrow(/451 the mail could not be stored: the disk is full/);
  failure = undefined;
  await send();
  expect(stored).toHaveLength(1);
});

it.each([
  ["announces its size", { size: 2_000 }, /larger than allowed 1000/],
  ["does not announce its size", {}, /552 a mail may have 1000 bytes/],
])("the local SES refuses a mail that is too large if its sender %s", async (_what, size, refusal) => {
  await server.close();
  server = await openMailServer({
    port: 0,
    maxBytes: 1_000,
    store: async (key, raw) => void stored.push({ key, raw }),
  });
  const envelope = { from: mail.from, to: mail.to, ...size };
  await expect(send({ raw: `Subject: x\r\n\r\n${"a ".repeat(1_000)}`, envelope })).rejects.toThrow(refusal);
  await expect(send({ raw: "Subject: x\r\n\r\nsmall", envelope: { from: mail.from, to: mail.to } })).resolves.toMatch(
    /^250/,
  );
  expect(stored).toHaveLength(1);
});

let dir: string;
let catcher: MailCatcher;

beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), "nova-mail-")), "deep", "mail");
  catcher = await openMailCatcher({ dir });
});

afterEach(async () => {
  await catcher.close();
  await rm(join(dir, ".."), { recursive: true });
});

async function sendSubject(subject: string, to: string[] = ["a@example.com"]): Promise<void> {
  const transport = createTransport({ host: "127.0.0.1", port: catcher.port, secure: false });
  await transport.sendMail({ from: "Nova <nova@example.com>", to, subject, text: `about ${subject}` });
  transport.close();
}

it("the mail catcher stores a mail with its sender, every recipient and a subject with characters beyond ASCII", async () => {
  await sendSubject("Über 1.000 €", ["a@example.com", "b@example.com"]);

  const [mail] = await catcher.messages();
  expect(mail).toMatchObject({
    from: "nova@example.com",
    to: ["a@example.com", "b@example.com"],
    subject: "Über 1.000 €",
  });
  expect(await readFile(mail?.file ?? "", "utf8")).toMatch(/^Message-ID: </m);
});

it("the mail catcher lists mails in the order of arrival, also those that it received before its last start", async () => {
  for (const subject of ["1", "2", "3"]) await sendSubject(subject);
  await catcher.close();
  catcher = await openMailCatcher({ dir });
  await sendSubject("4");

  const subjects = (await catcher.messages()).map((mail) => mail.subject);
  expect(subjects).toEqual(["1", "2", "3", "4"]);
});

it("the mail catcher stores each of several mails that arrive at the same time", async () => {
  await Promise.all(Array.from({ length: 20 }, (_, n) => sendSubject(`mail ${n}`)));

  const subjects = (await catcher.messages()).map((mail) => mail.subject);
  expect(new Set(subjects).size).toBe(20);
});

it("the mail catcher stores nothing of a mail if the sender disconnects in the middle, and accepts the next mail", async () => {
  const client = connect(catcher.port, "127.0.0.1");
  const replies = client[Symbol.asyncIterator]();
  await replies.next();
  for (const line of ["HELO x", "MAIL FROM:<a@x>", "RCPT TO:<b@x>", "DATA"]) {
    client.write(`${line}\r\n`);
    await replies.next();
  }
  client.end("Subject: half\r\n\r\nand then");
  await once(client, "close");
  await sendSubject("whole");

  expect((await catcher.messages()).map((mail) => mail.subject)).toEqual(["whole"]);
  expect((await readdir(dir)).filter((name) => !name.endsWith(".eml"))).toEqual([]);
});

it("the mail catcher throws an error if another program uses its port", async () => {
  await expect(openMailCatcher({ dir, port: catcher.port })).rejects.toThrow(/EADDRINUSE/);
});
