import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nova } from "../cli/support/nova.ts";
import { openTestCloud, type TestCloud } from "../support/cloud.ts";
import { root } from "../support/imports.ts";

const run = promisify(execFile);
const invoices = join(root, "packages/examples/invoice/invoices");
/**
 * A data folder that stays after the tests, because the demo installs missing Python packages into it, which takes
 * long.
 */
const dataDir = join(root, "node_modules/.cache/nova-demo");

async function demo(...args: string[]): Promise<string> {
  const script = join(root, "packages/examples/demo/invoice.ts");
  const env = { ...process.env, NOVA_DATA_DIR: dataDir, NO_COLOR: "1" };
  const { stdout } = await run(process.execPath, [script, ...args], { env }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

async function resultsOf(...pdfs: string[]): Promise<unknown> {
  return JSON.parse(await demo("--json", ...pdfs));
}

/** Returns the rows of a table that the demo prints, each as a list of cells. */
function rowsIn(table: string): string[][] {
  const lines = table.split("\n").filter((line) => / ms$/.test(line));
  return lines.map((line) => line.split(/ {2,}/));
}

function expectedOf(file: string): { amount: number; currency: string } {
  const [first] = JSON.parse(readFileSync(join(invoices, file.replace(".pdf", ".expected.json")), "utf8"));
  return first;
}

describe("the demo with invoices", () => {
  let said: string;
  let tables: string[];

  beforeAll(async () => {
    said = await demo();
    tables = said.split("The same mails");
  }, 400_000);

  it.each(["by hand", "in sentences, without a model"])(
    "finds the total and currency of each real invoice and follows the right edge in the variant %j",
    (how) => {
      const rows = rowsIn(tables[how === "by hand" ? 0 : 1] as string).filter(([file]) => file?.endsWith(".pdf"));
      const files = readdirSync(invoices).filter((name) => name.endsWith(".pdf"));
      expect(rows.map(([file]) => file)).toEqual(files.sort());
      for (const [file = "", ...row] of rows) {
        const { amount, currency } = expectedOf(file);
        const told = [amount.toFixed(2), currency, `${amount} ✓`, amount > 1000 ? "high" : "low"];
        expect(row.slice(0, -1), file).toEqual(told);
      }
    },
  );

  it("rejects a mail without an attachment, both with handwritten code and with prompts", () => {
    const rejected = tables.flatMap(rowsIn).filter(([file]) => file === "(no attachment)");
    expect(rejected.map((row) => row.slice(0, -1))).toEqual(Array(2).fill(["(no attachment)", "-", "-", "rejected"]));
  });

  it("stores every mail in PostgreSQL", () => {
    const [, below = ""] = said.split("read back from PostgreSQL:");
    const rows = (below.split("The same mails")[0] ?? "")
      .split("\n")
      .filter((line) => /@supplier\.example$/.test(line));
    const expected = readdirSync(invoices).flatMap((file) =>
      file.endsWith(".pdf") ? [[file, String(expectedOf(file).amount), expectedOf(file).currency]] : [],
    );
    const booked = rows.map((line) => line.split(/ {2,}/).slice(0, 3));
    expect(booked.sort()).toEqual([["-", "-", "-"], ...expected].sort());
  });

  it("prints the folder with its notices, and the commands that show a run", () => {
    expect(said).toMatch(/^16 notices lie in .*\n.*npx nova trace exec_\w+ \[--full\], npx nova verify exec_\w+$/m);
  });

  it("has locked code for every prompt node", async () => {
    const { stdout } = await nova(root, "lock", "packages/examples/invoice-ai", "--check");
    expect(stdout).toMatch(/the code of every prompt node of .*invoice-ai is locked/);
  });

  const ownStart = { tags: ["deep"], timeout: 120_000 };

  it("prints results for given PDFs as JSON, with a null amount for a PDF without text", ownStart, async () => {
    const folder = await mkdtemp(join(tmpdir(), "nova-pdf-"));
    await writeFile(join(folder, "blank.pdf"), blankPdf());
    const common = { duration_ms: expect.any(Number), execution_id: expect.stringMatching(/^exec_/) };
    expect(await resultsOf(join(invoices, "oyo.pdf"), join(folder, "blank.pdf"))).toEqual([
      { ...common, file: "oyo.pdf", amount: 1939, currency: "INR", branch: "high", status: "completed", error: null },
      {
        ...common,
        file: "blank.pdf",
        amount: null,
        currency: null,
        branch: null,
        status: "failed",
        error: expect.stringMatching(/blank.pdf has no readable text on its 1 page.*run text recognition/),
      },
    ]);
    await rm(folder, { recursive: true });
  });

  it("reads PDF pages that are upside down, sideways or skewed", ownStart, async () => {
    const turned = join(root, "test/fixtures/invoices/turned");
    const files = readdirSync(turned).sort();
    expect(files).toHaveLength(3);
    expect(await resultsOf(...files.map((file) => join(turned, file)))).toMatchObject(
      files.map((file) => {
        const { amount, currency } = expectedOf(file);
        return { file, amount, currency, status: "completed" };
      }),
    );
  });
});

/** These tests need numpy and pandas, and only the data folder of this file always has them installed. */
describe("values of numpy and pandas in the context", () => {
  let cloud: TestCloud;

  beforeAll(async () => {
    cloud = await openTestCloud({ dataDir });
    await cloud.warmed();
  });

  afterAll(() => cloud.close());

  it.each([
    ["import numpy as np; context['x'] = np.float64(1.5)", 'key "x": numpy.float64 .* use float\\(x\\)'],
    ["import numpy as np; context['x'] = {'a': [np.int64(3)]}", 'key "x.a\\[0\\]": numpy.int64 .* use int\\(x\\)'],
    ["import pandas as pd; context['df'] = pd.DataFrame({'a': [1]})", 'key "df": pandas.DataFrame .* use x.to_dict'],
    ["import pandas as pd; context['t'] = pd.Timestamp('2026-01-01')", 'key "t": pandas.Timestamp .* use x.isoformat'],
  ])(
    "make the node fail whose code sets them, with a message that says how to correct the code: %s",
    { timeout: 60_000 },
    async (code, message) => {
      const { execution } = await cloud.runCode(code);
      expect(execution).toMatchObject({ status: "failed", error: { message: expect.stringMatching(message) } });
    },
  );
});

/** Returns a PDF with one empty page. */
function blankPdf(): string {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>",
  ];
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const offset = body.length;
    body += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  return `${body}xref\n0 4\n0000000000 65535 f \n${rows}trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
}
