import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type MailCatcher, openMailCatcher } from "../../../packages/local/src/mail/catcher.ts";

let dir: string;
let catcher: MailCatcher;

beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), "nova-mail-")), "deep", "mail");
  catcher = await openMailCatcher({ dir });
});

afterEach(async () => {
  await catcher.close();
  await rm(join(dir, "../.."), { recursive: true });
});

async function send(subject: string, to: string[] = ["a@example.com"]): Promise<void> {
  const transport = createTransport({ host: "127.0.0.1", port: catcher.port, secure: false });
  await transport.sendMail({ from: "Nova <nova@example.com>", to, subject, text: `about ${subject}` });
  transport.close();
}

test("keeps a mail with its sender, every recipient and a subject beyond ASCII", async () => {
  await send("Über 1.000 €", ["a@example.com", "b@example.com"]);

  const [mail] = await catcher.messages();
  expect(mail).toMatchObject({
    from: "nova@example.com",
    to: ["a@example.com", "b@example.com"],
    subject: "Über 1.000 €",
  });
  expect(await readFile(mail?.file ?? "", "utf8")).toMatch(/^Message-ID: </m);
});

test("lists mails in the order of arrival, those of an earlier run first", async () => {
  for (const subject of ["1", "2", "3"]) await send(subject);
  await catcher.close();
  catcher = await openMailCatcher({ dir });
  await send("4");

  const subjects = (await catcher.messages()).map((mail) => mail.subject);
  expect(subjects).toEqual(["1", "2", "3", "4"]);
});

test("keeps each of the mails that arrive at once", async () => {
  await Promise.all(Array.from({ length: 20 }, (_, n) => send(`mail ${n}`)));

  const subjects = (await catcher.messages()).map((mail) => mail.subject);
  expect(new Set(subjects).size).toBe(20);
});

test("keeps no part of a mail whose sender hangs up, and accepts the next one", async () => {
  const client = connect(catcher.port, "127.0.0.1");
  const replies = client[Symbol.asyncIterator]();
  await replies.next();
  for (const line of ["HELO x", "MAIL FROM:<a@x>", "RCPT TO:<b@x>", "DATA"]) {
    client.write(`${line}\r\n`);
    await replies.next();
  }
  client.end("Subject: half\r\n\r\nand then");
  await once(client, "close");
  await send("whole");

  expect((await catcher.messages()).map((mail) => mail.subject)).toEqual(["whole"]);
  expect((await readdir(dir)).filter((name) => !name.endsWith(".eml"))).toEqual([]);
});

test("reports a taken port", async () => {
  await expect(openMailCatcher({ dir, port: catcher.port })).rejects.toThrow(/EADDRINUSE/);
});
