import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildVerifyPage } from "@nova/verify/page";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsInEveryLook, hasBrowser, useBrowser, waitUntil } from "../console/support/browser.ts";
import { root } from "../support/imports.ts";
import { addRoot } from "./support/add-root.ts";
import { keySet, type Loose, makeProof } from "./support/make-proof.ts";
import { Choices } from "./support/random.ts";

const path = join(root, `node_modules/.cache/nova-verify-page-${process.pid}.html`);
const proof = makeProof(new Choices(11), 20);
addRoot(proof, new Choices(11));
const sheet = JSON.stringify(proof);

describe.skipIf(!hasBrowser)("the page of the verifier", { timeout: 60_000 }, () => {
  const browser = useBrowser();
  beforeAll(async () => {
    await buildVerifyPage(path);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await rm(path, { force: true });
  });

  /** Opens the page as a file. `asked` lists the addresses that the page requests. */
  async function open(): Promise<{ page: Page; asked: string[] }> {
    const page = await browser.page();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(pathToFileURL(path).href);
    return { page, asked };
  }

  async function drop(page: Page, ...files: [name: string, text: string][]): Promise<void> {
    const dataTransfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      for (const [name, text] of ${JSON.stringify(files)}) transfer.items.add(new File([text], name));
      return transfer;
    })()`);
    await page.dispatchEvent("body", "drop", { dataTransfer });
  }

  const verdictOf = (page: Page) => page.locator("#verdict");

  it("shows the whole chain of a valid proof, and sends no request", async () => {
    const { page, asked } = await open();
    await drop(page, ["proof.json", sheet], ["keys.json", JSON.stringify(keySet)]);
    await waitUntil(async () => expect(await verdictOf(page).textContent()).toContain("from the keys that you gave"));
    expect(await verdictOf(page).getAttribute("class")).toBe("valid");
    expect(await verdictOf(page).textContent()).toContain(`${proof.execution} is valid: `);
    const entries = proof.runs.flatMap((run: Loose) => run.scopes.flatMap((scope: Loose) => scope.entries));
    expect(await page.locator("tbody tr").count()).toBe(entries.length);
    expect(await page.locator("caption").allTextContents()).toContain(proof.execution);
    expect(asked).toEqual([pathToFileURL(path).href]);
    expect(await findingsInEveryLook(page, "verify-valid")).toEqual([]);
  });

  it("shows the changed entry and the reason in red, and never interprets a text as HTML", {
    tags: ["deep"],
  }, async () => {
    const { page, asked } = await open();
    const changed = structuredClone(proof);
    const [main] = changed.runs[0].scopes;
    const head = JSON.parse(main.entries[1].head);
    main.entries[1].head = JSON.stringify({ ...head, node_id: "<img src=x onerror=alert(1)>" });
    await drop(page, ["proof.json", JSON.stringify(changed)]);
    await waitUntil(async () => expect(await verdictOf(page).getAttribute("class")).toBe("broken"));
    const bad = page.locator("tr.bad");
    expect(await bad.first().textContent()).toContain("<img src=x onerror=alert(1)>");
    expect(await bad.last().textContent()).toContain("The entry is of node");
    expect(await page.locator("img").count()).toBe(0);
    expect(asked).toHaveLength(1);
    expect(await findingsInEveryLook(page, "verify-broken")).toEqual([]);
  });

  it("can be used with the keyboard alone, and replaces the verdict on a file with the verdict on the next file", async () => {
    const { page } = await open();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.name")).toBe("proof");
    await page.setInputFiles("input[name=proof]", {
      name: "a.json",
      mimeType: "application/json",
      buffer: Buffer.from("{}"),
    });
    await waitUntil(async () => expect(await verdictOf(page).textContent()).toContain("The file is not a proof"));
    await page.setInputFiles("input[name=proof]", {
      name: "b.json",
      mimeType: "application/json",
      buffer: Buffer.from(sheet),
    });
    await waitUntil(async () => expect(await verdictOf(page).getAttribute("class")).toBe("valid"));
    await drop(page, ["ca.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"]);
    await waitUntil(async () => expect(await verdictOf(page).textContent()).toContain("ca.pem cannot be used"));
  });

  it("allows only its own script and style", async () => {
    const html = await readFile(path, "utf8");
    const policy = /content="(default-src [^"]*)"/.exec(html)?.[1] ?? "";
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/,
    );
    expect(html).not.toMatch(/<(?:link|img|iframe)\b/);
  });
});
