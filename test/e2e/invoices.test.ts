import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { oneNode } from "../support/cloud.ts";
import { root } from "../support/imports.ts";

const run = promisify(execFile);
const invoices = join(root, "packages/examples/invoice/invoices");
/** Kept between runs: the demo installs Python packages into its data folder where the machine lacks them. */
const dataDir = join(root, "node_modules/.cache/nova-demo");

interface Result {
  file: string;
  amount: number | null;
  currency: string | null;
  branch: string | null;
  status: string;
}

async function demo(...pdfs: string[]): Promise<Result[]> {
  const script = join(root, "packages/examples/invoice/demo/main.ts");
  const env = { ...process.env, NOVA_DATA_DIR: dataDir };
  const { stdout } = await run(process.execPath, [script, "--json", ...pdfs], { env }).catch(
    (error: { stdout: string }) => error,
  );
  return JSON.parse(stdout) as Result[];
}

function expectedOf(file: string): { amount: number; currency: string } {
  const [first] = JSON.parse(readFileSync(join(invoices, file.replace(".pdf", ".expected.json")), "utf8"));
  return first;
}

describe("the invoice demo", () => {
  let results: Result[];

  beforeAll(async () => {
    results = await demo();
  }, 400_000);

  it("finds the total and the currency of every real invoice, and takes the right branch", () => {
    const files = readdirSync(invoices).filter((name) => name.endsWith(".pdf"));
    const withPdf = results.filter(({ file }) => files.includes(file));
    expect(withPdf).toHaveLength(7);
    for (const result of withPdf) {
      const { amount, currency } = expectedOf(result.file);
      expect(result).toMatchObject({ amount, currency, branch: amount > 1000 ? "high" : "low", status: "completed" });
    }
  });

  it("rejects a mail without an attachment", () => {
    const mail = results.filter(({ file }) => !file.endsWith(".pdf"));
    expect(mail).toEqual([expect.objectContaining({ amount: null, branch: "rejected", status: "completed" })]);
  });

  it("fails a PDF without text, its amount null", async () => {
    const folder = await mkdtemp(join(tmpdir(), "nova-pdf-"));
    await writeFile(join(folder, "blank.pdf"), blankPdf());
    const [result] = await demo(join(folder, "blank.pdf"));
    expect(result).toMatchObject({ file: "blank.pdf", amount: null, branch: null, status: "failed" });
  }, 120_000);
});

/** Here, because only the demo's data folder is sure to have the packages. */
describe("values of numpy and pandas", () => {
  it.each([
    ["import numpy as np; context['x'] = np.float64(1.5)", 'key "x": numpy.float64 .* use float\\(x\\)'],
    ["import numpy as np; context['x'] = {'a': [np.int64(3)]}", 'key "x.a\\[0\\]": numpy.int64 .* use int\\(x\\)'],
    ["import pandas as pd; context['df'] = pd.DataFrame({'a': [1]})", 'key "df": pandas.DataFrame .* use x.to_dict'],
    ["import pandas as pd; context['t'] = pd.Timestamp('2026-01-01')", 'key "t": pandas.Timestamp .* use x.isoformat'],
  ])("fail their node with the cure: %s", { timeout: 60_000 }, async (code, message) => {
    const file = join(await mkdtemp(join(tmpdir(), "nova-values-")), "workflow.json");
    await writeFile(file, JSON.stringify(oneNode(code)));
    const nova = join(root, "packages/cli/bin/nova.js");
    const env = { ...process.env, NOVA_DATA_DIR: dataDir };
    const ended = run(process.execPath, [nova, "run", file, "--json"], { env }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: { code: number; stdout: string }) => error,
    );
    const { code: exitCode, stdout } = await ended;
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout).error.message).toMatch(new RegExp(message));
  });
});

/** The smallest page there is, with nothing on it. */
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
