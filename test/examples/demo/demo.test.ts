import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { describe, expect, it, test } from "vitest";
import { databaseAt } from "../../../packages/examples/demo/database.ts";
import { invoiceMails } from "../../../packages/examples/demo/mails.ts";

const folder = join(import.meta.dirname, "../../../packages/examples/invoice/invoices");

test("each mail of the demo has one unchanged PDF, except the last mail, which has no attachment", async () => {
  const pdfs = (await readdir(folder)).filter((name) => name.endsWith(".pdf"));
  expect(pdfs).toHaveLength(7);

  const mails = await invoiceMails(pdfs.map((name) => join(folder, name)));

  expect(mails.map((mail) => mail.file)).toEqual([...pdfs, "(no attachment)"]);
  const parsed = await Promise.all(mails.map((mail) => PostalMime.parse(mail.eml)));
  for (const [index, name] of pdfs.entries()) {
    const [attachment, ...others] = parsed[index]?.attachments ?? [];
    expect(others).toEqual([]);
    expect(attachment).toMatchObject({ filename: name, mimeType: "application/pdf" });
    const content = Buffer.from(attachment?.content as ArrayBuffer);
    expect(content.equals(await readFile(join(folder, name)))).toBe(true);
  }
  expect(parsed.at(-1)?.attachments).toEqual([]);
});

test("each mail of the demo has the headers that mail servers require, including a unique id", async () => {
  const mails = await invoiceMails([join(folder, "oyo.pdf")]);
  const headers = mails.map((mail) => mail.eml.toString("latin1").split("\r\n\r\n")[0] ?? "");
  for (const header of ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version"]) {
    for (const text of headers) expect(text).toMatch(new RegExp(`^${header}: `, "m"));
  }
  expect(new Set(headers.map((text) => /^Message-ID: (.*)$/m.exec(text)?.[1])).size).toBe(2);
});

test("invoiceMails names in its error the file that does not exist", async () => {
  await expect(invoiceMails(["/nowhere/missing.pdf"])).rejects.toThrow("missing.pdf");
});

describe("databaseAt", () => {
  it.each([
    [
      "postgres://ann:s%40cret@db.example.com:6543/books?sslmode=require",
      { host: "db.example.com", port: 6543, name: "books", user: "ann", password: "s@cret", sslmode: "require" },
    ],
    [
      "postgresql://ann:x@localhost",
      { host: "localhost", port: 5432, name: "ann", user: "ann", password: "x", sslmode: "prefer" },
    ],
  ])("splits %s into server, port, name, user and password", (url, database) => {
    expect(databaseAt(url)).toEqual(database);
  });

  it.each(["books", "mysql://ann@db/books", "postgres:///books"])(
    "refuses %s with an example of a valid address",
    (url) => {
      expect(() => databaseAt(url)).toThrow(/DATABASE_URL is no address such as postgres:/);
    },
  );
});
