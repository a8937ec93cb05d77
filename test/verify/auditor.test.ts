import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { answerTask, startExecution } from "@nova/engine";
import { makeProof, proveAndStamp } from "@nova/service";
import { buildVerifyPage } from "@nova/verify/page";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, picture, useBrowser, waitUntil } from "../console/support/browser.ts";
import { openTestCloud, type TestCloud } from "../support/cloud.ts";
import { root } from "../support/imports.ts";
import { type Authority, makeAuthority } from "../support/tsa/authority.ts";

const path = join(root, `node_modules/.cache/nova-auditor-page-${process.pid}.html`);
const admin = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;

const invoices = {
  id: "invoices",
  nodes: [
    { id: "start", type: "start" },
    { id: "add_up", type: "action", code: "context['total'] = sum(context['lines'])" },
    { id: "large", type: "decision", code: "context['branch_decision'] = context['total'] > 1000" },
    { id: "manager", type: "approval", message: "Pay {{total}} to {{supplier}}?" },
    { id: "pay", type: "action", code: "context['paid'] = context['total']" },
    { id: "turn_down", type: "action", code: "context['paid'] = 0" },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "add_up" },
    { from: "add_up", to: "large" },
    { from: "large", to: "manager", condition: true },
    { from: "large", to: "pay", condition: false },
    { from: "manager", to: "pay", condition: "approved" },
    { from: "manager", to: "turn_down", condition: "rejected" },
    { from: "pay", to: "end" },
    { from: "turn_down", to: "end" },
  ],
};

/** These tests also write `test-results/auditor-*.png`. The pictures in docs/auditor.md are copies of these files. */
describe.skipIf(!hasBrowser)("an auditor who opens the files of docs/auditor.md", { timeout: 120_000 }, () => {
  const browser = useBrowser();
  let cloud: TestCloud;
  let authority: Authority;
  let id: string;
  let proof: string;
  let keys: string;

  beforeAll(async () => {
    [cloud, authority] = await Promise.all([openTestCloud(), makeAuthority(), buildVerifyPage(path)]);
    const ports = cloud.service;
    const version = await cloud.publish(invoices);
    const context = { supplier: "Desks Ltd", lines: [9_500, 3_000] };
    ({ id } = await startExecution(ports, { version, context: JSON.stringify(context) }));
    await new Promise<void>((done) => void cloud.untilEnd(id, ({ state }) => state === "waiting" && done()));
    const answer = { choice: "approved", by: "cfo@acme.com", from: "console" };
    await answerTask(ports, { execution: id, node: "manager", ...answer });
    await cloud.untilEnd(id);
    const stamp = async (hash: Uint8Array) => ({ token: await authority.stamp(hash), at: new Date() });
    expect(await proveAndStamp({ ...ports, timeStamper: { stamp } })).toMatchObject({ stamps: 1 });
    const made = await makeProof(ports, admin, id, "all");
    proof = "text" in made ? made.text : "";
    keys = JSON.stringify({ keys: await ports.keyPair.publicKeys() });
  }, 120_000);

  afterAll(async () => {
    await browser.close();
    await cloud.close();
    await authority[Symbol.asyncDispose]();
    await rm(path, { force: true });
  });

  async function openWith(text: string): Promise<Page> {
    const page = await browser.page({ viewport: { width: 1100, height: 900 } });
    await page.goto(pathToFileURL(path).href);
    const files = [
      ["invoice-814.json", text],
      ["nova-keys.json", keys],
      ["ca.pem", authority.ca],
    ];
    const dataTransfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      for (const [name, text] of ${JSON.stringify(files)}) transfer.items.add(new File([text], name));
      return transfer;
    })()`);
    await page.dispatchEvent("body", "drop", { dataTransfer });
    return page;
  }

  it("sees a valid chain, whose root the authority stamped", async () => {
    const page = await openWith(proof);
    const verdict = page.locator("#verdict");
    // The page checks again after each of the three files.
    const stamped = "The authority that you gave stamped the root at";
    await waitUntil(async () => expect(await verdict.textContent()).toContain(stamped));
    expect(await verdict.textContent()).toContain(`${id} is valid: `);
    await picture(page, "auditor-valid");
  });

  it("sees the broken entry after the name in an answer was changed", async () => {
    const changed = proof.replace("cfo@acme.com", "cto@acme.com");
    expect(changed).not.toBe(proof);
    const page = await openWith(changed);
    const verdict = page.locator("#verdict");
    await waitUntil(async () => expect(await verdict.textContent()).toContain(`${id} is broken: `));
    await picture(page, "auditor-broken");
  });
});
