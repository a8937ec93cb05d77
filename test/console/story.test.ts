// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { chmod, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { ensurePython } from "@nova/local";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newFolder, nova, type Started, startNova } from "../cli/support/nova.ts";
import { root } from "../support/imports.ts";
import { hasBrowser, picture, tabTo, useBrowser, waitUntil } from "./support/browser.ts";

const example = join(root, "packages/examples/invoice");
const pdf = join(example, "invoices/oyo.pdf");

/** A workflow with the Python code of the invoice example, and with an approval for totals above 1000. */
const workflow = {
  id: "invoices",
  name: "Invoices",
  inputs: {
    type: "object",
    required: ["pdf", "pdf_name"],
    properties: { pdf: { description: "The invoice, a PDF" }, pdf_name: { type: "string" } },
    additionalProperties: false,
  },
  nodes: [
    { id: "start", type: "start" },
    { id: "extract_text", type: "action", codeFile: "nodes/extract_text.py", effects: false },
    { id: "find_total", type: "action", codeFile: "nodes/find_total.py", effects: false },
    { id: "over_1000", type: "decision", codeFile: "nodes/over_1000.py", effects: false },
    {
      id: "manager",
      type: "approval",
      message: "Pay {{total_amount}} {{currency}} ({{pdf_name}})?",
      choices: ["approved", "rejected"],
      timeout: "3d",
    },
    { id: "pay", type: "action", code: "context['outcome'] = 'paid'", effects: false },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "extract_text" },
    { from: "extract_text", to: "find_total" },
    { from: "find_total", to: "over_1000" },
    { from: "over_1000", to: "manager", condition: true },
    { from: "over_1000", to: "pay", condition: false },
    ...["approved", "rejected", "timeout"].map((condition) => ({
      from: "manager",
      to: condition === "approved" ? "pay" : "end",
      condition,
    })),
    { from: "pay", to: "end" },
  ],
};

/**
 * Writes a program with the name `xdg-open`, which opens addresses on Linux. This program does not open an address, but
 * writes it to the file `opened`.
 */
async function writeOpener(folder: string): Promise<void> {
  await mkdir(folder);
  const lines = ["#!/bin/sh", `cd "${folder}"`, 'printf %s "$1" > part', "mv part opened"];
  await writeFile(join(folder, "xdg-open"), lines.join("\n"));
  await chmod(join(folder, "xdg-open"), 0o755);
}

describe.skipIf(!hasBrowser)("a new user", () => {
  const browser = useBrowser();
  let [folder, openers] = ["", ""];
  let dev: Started;
  let greeted: { url: string; api_key: string; console: string };

  beforeAll(async () => {
    if (!hasBrowser) return;
    await ensurePython({ debian: true });
    folder = await newFolder();
    openers = join(await newFolder(), "bin");
    await writeOpener(openers);
    const { PATH } = process.env;
    process.env.PATH = `${openers}${delimiter}${PATH}`;
    dev = startNova(folder, "dev", "--open", "--port", "0", "--smtp-port", "0", "--json");
    process.env.PATH = PATH;
    greeted = JSON.parse(await dev.line('"console"'));
    await fetch(`${greeted.url}/console/`);
  });
  afterAll(async () => {
    if (!hasBrowser) return;
    await browser.close();
    dev.child.kill("SIGINT");
    await dev.ended;
    await rm(folder, { recursive: true, force: true });
    await rm(openers, { recursive: true, force: true });
  });

  const completed = (page: Page) => page.locator(".run-top").getByText("Completed").waitFor();
  const verified = (page: Page) => page.getByText(/^\d+ entries verified, signed$/).waitFor();

  it("starts with an empty folder and gets an invoice paid with only a mouse and the link of nova dev --open", async () => {
    const opened = await waitUntil(() => readFile(join(openers, "opened"), "utf8"));
    expect(opened).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/#code=[\w-]+$/);
    const page = await browser.page();
    await page.goto(opened);
    await page.getByText("No runs yet").waitFor();
    await page.getByRole("link", { name: "Workflows" }).click();
    await page.getByText("No workflows yet").waitFor();
    for (const command of ["init", "publish"]) expect(await nova(folder, command, "hello")).toMatchObject({ code: 0 });
    await page.getByRole("link", { name: "Hello" }).waitFor();
    for (const part of ["lib", "nodes"])
      await cp(join(example, part), join(folder, "invoices", part), { recursive: true });
    await writeFile(join(folder, "invoices/workflow.json"), JSON.stringify(workflow));
    await page.getByRole("link", { name: "Invoices" }).click();
    await page.getByRole("link", { name: "Start", exact: true }).click();
    await page.getByLabel("pdf_name").fill("oyo.pdf");
    await page.getByRole("radiogroup", { name: "Type of pdf" }).getByText("File").click();
    await page.locator("input[type=file]").setInputFiles(pdf);
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/\/runs\/exec_/);
    const run = page.url();
    await page.locator('.react-flow__node[data-id="manager"] .node[data-state="waiting"]').waitFor();
    await page.getByRole("link", { name: "Tasks" }).click();
    await page.getByRole("link", { name: "Pay 1939.0 INR (oyo.pdf)?" }).click();
    await page.getByRole("button", { name: "approved" }).click();
    await page.getByText("answered: approved").waitFor();
    await page.goto(run);
    await completed(page);
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await verified(page);
    const answered = page.waitForResponse((answer) => answer.headers()["content-type"] === "application/pdf");
    await page.locator(".blob", { hasText: "pdf" }).getByRole("button", { name: "Show" }).click();
    const app = await answered;
    expect(app.frame()).not.toBe(page.mainFrame());
    expect(new URL(app.url()).origin).not.toBe(new URL(greeted.url).origin);
    await picture(page, "story-light-desk");
  });

  it("starts with an empty folder and gets an invoice paid with only a keyboard and a pasted API key", async () => {
    const page = await browser.page();
    const { keyboard } = page;
    await page.goto(`${greeted.url}/console/`);
    await tabTo(page, page.getByLabel("API key"));
    await keyboard.type(greeted.api_key);
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await keyboard.press("g");
    await keyboard.press("w");
    await page.getByRole("link", { name: "Invoices" }).waitFor();
    await keyboard.press("j");
    await keyboard.press("j");
    await keyboard.press("Enter");
    await tabTo(page, page.getByRole("link", { name: "Start", exact: true }));
    await keyboard.press("Enter");
    await tabTo(page, page.getByRole("radio", { name: "Text" }));
    await keyboard.press("ArrowRight");
    await keyboard.press("ArrowRight");
    const chooser = page.waitForEvent("filechooser");
    await tabTo(page, page.getByRole("button", { name: "Choose a file" }), 2);
    await keyboard.press("Enter");
    await (await chooser).setFiles(pdf);
    await tabTo(page, page.getByLabel("pdf_name"), 3);
    await keyboard.type("oyo.pdf");
    await keyboard.press("Enter");
    await page.locator('.react-flow__node[data-id="manager"] .node[data-state="waiting"]').waitFor();
    await keyboard.press("g");
    await keyboard.press("t");
    await page.getByRole("link", { name: "Pay 1939.0 INR (oyo.pdf)?" }).waitFor();
    await keyboard.press("j");
    await keyboard.press("Enter");
    await tabTo(page, page.getByRole("button", { name: "approved" }));
    await keyboard.press("Enter");
    await page.getByText("answered: approved").waitFor();
    await tabTo(page, page.getByRole("link", { name: "Open the run" }).last(), 2);
    await keyboard.press("Enter");
    await completed(page);
    await tabTo(page, page.getByRole("button", { name: "Verify the chain" }));
    await keyboard.press("Enter");
    await verified(page);
  });
});
