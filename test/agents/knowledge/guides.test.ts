import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ContextShape, checkPython, nodeGlobals, type ValueShape } from "@nova/python";
import { describe, expect, it, test } from "vitest";
import {
  guidesFor,
  keyPattern,
  phrasePattern,
  plainText,
  readGuide,
  topics,
} from "../../../packages/agents/src/knowledge/guides.ts";

type Types = Record<string, ValueShape["type"]>;

const mailbox: Types = { imap_host: "string", imap_port: "integer", smtp_host: "string", email_password: "string" };
const database: Types = { db_host: "string", db_name: "string" };

function shapeOf(types: Types): ContextShape {
  return Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type }]));
}

function chosen(task: string, types: Types | ContextShape = {}, errors: string[] = []): string[] {
  const isPlain = Object.values(types).every((type) => typeof type === "string");
  const schema = isPlain ? shapeOf(types as Types) : (types as ContextShape);
  return guidesFor({ task, schema, errors }).map(({ name }) => name);
}

describe("the Python guides in a prompt", () => {
  it.each<[string, Types, string[]]>([
    ["Connect to IMAP server, read the first unread email, take any PDF attachment", mailbox, ["imap", "pdf"]],
    ["Decode PDF from base64 and extract its text using PyMuPDF", { pdf_data_b64: "string" }, ["pdf"]],
    ["Extract total amount from invoice PDF", { pdf_data_b64: "string" }, ["pdf", "money"]],
    ["Send an email to the vendor", mailbox, ["smtp"]],
    ["Save the total in the database", { ...database, total: "number" }, ["postgres"]],
    ["Download the orders from the API", { api_url: "string" }, ["http"]],
    ["Sum column amount by vendor", { csv_data: "string" }, ["csv", "money"]],
    ["Read the sheet", { xlsx: "bytes" }, ["excel"]],
    ["Shrink the photo to 800 pixels", { photo: "bytes" }, ["images"]],
    ["Is the invoice overdue?", { due: "string" }, ["dates"]],
    ["Take the customer out of the payload", { payload: "string" }, ["json"]],
  ])("are chosen by the words of the node's prompt and the keys of the context: %s", (task, types, guides) => {
    expect(chosen(task, types)).toEqual(guides);
  });

  it.each<[string, Types, string[]]>([
    ["Extrae el importe total de la factura", { factura: "bytes" }, ["pdf", "money"]],
    ["Lee los correos nuevos del buzón", mailbox, ["imap"]],
    ["Envía un correo al proveedor", mailbox, ["smtp"]],
    ["Guarda la factura en la base de datos", database, ["postgres"]],
    ["Calcula los días hasta el vencimiento", { vence: "string" }, ["dates"]],
    ["Convierte la imagen a JPEG", { imagen: "bytes" }, ["images"]],
    ["Lies den Gesamtbetrag aus der Rechnung", { rechnung: "bytes" }, ["pdf", "money"]],
    ["Hole die ungelesenen Nachrichten aus dem Postfach", mailbox, ["imap"]],
    ["Schicke dem Lieferanten eine E-Mail", mailbox, ["smtp"]],
    ["Die E-Mail an den Lieferanten senden", mailbox, ["smtp"]],
    ["Speichere die Rechnung in der Datenbank", database, ["postgres"]],
    ["Berechne die Fälligkeit aus dem Rechnungsdatum", { rechnungsdatum: "string" }, ["dates"]],
    ["Verkleinere das Bild", { bild: "bytes" }, ["images"]],
  ])("are chosen for prompts in Spanish and German: %s", (task, types, guides) => {
    expect(chosen(task, types)).toEqual(guides);
  });

  it.each<[string, Types]>([
    ["Rename vendor to supplier", { ...mailbox, ...database, pdf: "bytes", vendor: "string" }],
    ["Decide whether the total is above 1000", { total: "number", pdf: "bytes" }],
    ["Add a and b", { a: "integer", b: "integer" }],
    ["Put the rest of the items into a list", { items: "list" }],
  ])("are left out for a prompt that needs none: %s", (task, types) => {
    expect(chosen(task, types)).toEqual([]);
  });

  it("do not include the guide for PDF if an earlier node has extracted the text of the PDF", () => {
    expect(chosen("Extract the vendor from the invoice", { pdf: "bytes" })).toEqual(["pdf"]);
    expect(chosen("Extract the vendor from the invoice", { pdf: "bytes", text: "string" })).toEqual([]);
  });

  it("are chosen by the keys of the context, of its inner objects and of the first item of each of its lists", () => {
    const file: ValueShape = { type: "object", members: { "7.pdf": { type: "bytes", size: 900 } } };
    expect(chosen("Summarise what came", { mail: { type: "object", members: { files: file } } })).toEqual(["pdf"]);
    expect(chosen("Summarise what came", { mails: { type: "list", item: file } })).toEqual(["pdf"]);
  });

  it("are at most three, and the guides for topics that the node's prompt names come first", () => {
    const task = "Read PDF and CSV from the API, keep amounts in the database, mail the image over SMTP";
    expect(chosen(task, { pdf: "bytes", amounts: "list" })).toEqual(["pdf", "smtp", "postgres"]);
  });
});

describe("the Python guides in a prompt after a failed attempt", () => {
  it.each([
    ["ValueError: could not convert string to float: '1.234,56'", "money"],
    ["decimal.InvalidOperation: [<class 'decimal.ConversionSyntax'>]", "money"],
    ["ValueError: time data '31/12/26' does not match format '%Y-%m-%d'", "dates"],
    ["TypeError: can't compare offset-naive and offset-aware datetimes", "dates"],
    ["pymupdf.FileDataError: Failed to open stream", "pdf"],
    ["imaplib.IMAP4.error: command SEARCH illegal in state AUTH", "imap"],
    ["smtplib.SMTPRecipientsRefused: {}", "smtp"],
    ["psycopg.errors.UndefinedTable: relation does not exist", "postgres"],
    ["requests.exceptions.HTTPError: 404 Client Error: Not Found", "http"],
    ["pandas.errors.ParserError: Error tokenizing data", "csv"],
    ["ModuleNotFoundError: No module named 'openpyxl'", "excel"],
    ["PIL.UnidentifiedImageError: cannot identify image file", "images"],
    ["json.decoder.JSONDecodeError: Expecting value: line 1 column 1", "json"],
  ])("include, after the error %s, the guide %s", (error, guide) => {
    expect(chosen("Do it", {}, [error])).toContain(guide);
  });

  it("are at most five, and start with the guides of the first attempt in the same order", () => {
    const errors = ["psycopg.Error", "requests.Timeout", "JSONDecodeError", "UnidentifiedImageError"];
    const task = "Extract total amount from invoice PDF";
    expect(chosen(task, { pdf: "bytes" }, errors)).toEqual(["pdf", "money", "postgres", "http", "images"]);
  });

  it("include no further guide for an error that fits no guide", () => {
    expect(chosen("Add a and b", {}, ["KeyError: 'c'"])).toEqual([]);
  });
});

describe("a pattern of words", () => {
  it.each([
    ["mail", "read the mail", true],
    ["mail", "read the mailbox", false],
    ["mail*", "read the mailbox", true],
    ["*rechnung*", "die eingangsrechnungen", true],
    ["base de datos", "en la base de datos", true],
    ["send* … mail*", "send the report in a mail", true],
    ["send* … mail*", "send the report. then read the mail", false],
    ["send* … mail*", "mail is sent", false],
    ["a1, b2", "only b2", true],
  ])("written as %j matches the text %j: %s", (phrases, text, matches) => {
    expect(phrasePattern(phrases).test(text)).toBe(matches);
  });
});

describe("a pattern of keys", () => {
  it.each([
    ["pdf", [], "invoice pdf: bytes", true],
    ["pdf", ["string"], "invoice pdf: bytes", false],
    ["file*", ["string", "bytes"], "files: bytes", true],
    ["bytes", [], "count: bytes", false],
  ] as const)(
    "written as %j, for values of the types %j, matches the key and type %j: %s",
    (names, types, text, matches) => {
      expect(keyPattern(names, types.join("|") || undefined).test(text)).toBe(matches);
    },
  );
});

describe("plainText", () => {
  it.each([
    ["Fälligkeit der Größe", "falligkeit der grosse"],
    ["EMISIÓN del año", "emision del ano"],
    ["invoicePdf", "invoice pdf"],
    ["pdf_data_b64", "pdf data b64"],
  ])("turns %s into %s", (text, plain) => {
    expect(plainText(text)).toBe(plain);
  });
});

const shelf = new URL("../../../packages/agents/src/knowledge/shelf/guides.md", import.meta.url);
const names = topics.map(({ guide }) => guide);

function blocksOf(text: string): string[] {
  return [...text.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code]) => code as string);
}

describe("the file of Python guides", () => {
  it("has exactly one guide for each topic", () => {
    const found = Array.from(readFileSync(shelf, "utf8").matchAll(/^<!-- (\w+) -->$/gm), ([, name]) => name);
    expect(found.sort()).toEqual(names.toSorted());
  });

  it.each(names)("has a short guide for %s, whose code the check of generated code accepts", async (name) => {
    const { text } = readGuide(name);
    expect(text.length).toBeGreaterThan(600);
    // A longer guide would make a prompt with three guides too large. A token has about four characters.
    expect(text.length).toBeLessThanOrEqual(1450);
    const blocks = blocksOf(text);
    expect(blocks.length).toBeGreaterThan(0);
    for (const code of blocks) expect(await checkPython(code, nodeGlobals)).toEqual([]);
  });

  it.each(names)("has a guide for %s whose code sets a key of the context", (name) => {
    expect(blocksOf(readGuide(name).text).join()).toMatch(/^ *context\["\w+"\] = /m);
  });
});

const folder = join(import.meta.dirname, "./python");
const modules = readdirSync(folder).filter((name) => /^test_.*\.py$/.test(name));

test("the folder with Python tests of the Python guides contains the tests of the mail guides", () => {
  expect(modules).toContain("test_mail_guides.py");
});

// The Python tests run the guides' code against the scripted servers in servers.py. They skip the guides whose modules
// this Python cannot import.
test.each(modules)("the code of the Python guides passes the Python tests in %s", async (module) => {
  const run = promisify(execFile)(process.env.NOVA_PYTHON ?? "python3", ["-m", "unittest", "-q", module], {
    cwd: folder,
  });
  const { stderr } = await run.catch((error: { stderr: string }) => error);
  expect(stderr).toMatch(/Ran [1-9]\d* tests? in [\d.]+s\s+OK( \(skipped=\d+\))?\s*$/);
});
