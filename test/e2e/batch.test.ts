import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { root } from "../support/imports.ts";

const invoices = join(root, "packages/examples/invoice/invoices");
/**
 * A data folder that stays after the tests, because installing PyMuPDF into it takes long. The tests of the invoice
 * demo have another folder, because both test files may install packages at the same time.
 */
const dataDir = join(root, "node_modules/.cache/nova-batch");

interface BatchRun {
  status: string;
  results: object[];
  summary: object;
}

/** Runs the demo for two mails, one with these PDFs and one without attachments, and returns both runs. */
async function batch(...pdfs: string[]): Promise<[BatchRun, BatchRun]> {
  const script = join(root, "packages/examples/demo/batch.ts");
  const env = { ...process.env, NOVA_DATA_DIR: dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [script, "--json", ...pdfs], { env });
  return JSON.parse(stdout);
}

function resultOf(file: string): object {
  const expected = readFileSync(join(invoices, file.replace(".pdf", ".expected.json")), "utf8");
  const [{ amount, currency }] = JSON.parse(expected);
  return { name: file, pages: expect.any(Number), amount, currency, branch: amount > 1000 ? "high" : "low" };
}

describe("a run for a mail with seven invoices and a broken PDF", () => {
  const files = readdirSync(invoices).filter((name) => name.endsWith(".pdf"));
  let withInvoices: BatchRun;
  let withNone: BatchRun;

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "nova-batch-"));
    const broken = join(folder, "broken.pdf");
    await writeFile(broken, "%PDF-1.7\nand nothing that a reader knows");
    const paths = files.map((name) => join(invoices, name));
    [withInvoices, withNone] = await batch(...paths.slice(0, 3), broken, ...paths.slice(3));
  }, 400_000);

  it("has seven correct results and one error, in the order of the mail", () => {
    const results = files.map(resultOf);
    const error = {
      node: "extract_text",
      class: "NodeFailed",
      message: expect.stringMatching(/^ValueError: broken.pdf/),
    };
    expect(withInvoices.status).toBe("completed");
    expect(withInvoices.results).toEqual([...results.slice(0, 3), { error }, ...results.slice(3)]);
  });

  it("has a summary with sums for each currency, invoices to approve and unreadable files", () => {
    expect(withInvoices.summary).toEqual({
      from: "billing@supplier.example",
      invoices: 7,
      sums: { USD: 283.95, INR: 2258, EUR: 782.69 },
      high: ["oyo.pdf"],
      unreadable: [{ name: "broken.pdf", why: expect.stringContaining("broken.pdf") }],
    });
  });

  it("has no effect on the results for the next mail, which has no attachments", () => {
    const summary = { from: "billing@supplier.example", invoices: 0, sums: {}, high: [], unreadable: [] };
    expect(withNone).toMatchObject({ status: "completed", results: [], summary });
  });
});
