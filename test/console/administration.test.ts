// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { findingsInEveryLook, hasBrowser } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

const secret = "correct-horse-battery";

describe.skipIf(!hasBrowser)("the console", () => {
  const app = useConsole();

  const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

  it("creates a client with a credential, and does not show the values of a saved credential", async () => {
    const page = await app.open("/clients");
    const answers: Promise<string>[] = [];
    page.on("response", (response) => answers.push(response.text().catch(() => "")));
    await page.getByRole("button", { name: "New client" }).click();
    await page.getByLabel("Name").fill("Acme GmbH");
    expect(await page.getByLabel("Slug").inputValue()).toBe("acme-gmbh");
    await page.getByLabel("Slug").fill("acme");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Acme GmbH" }).waitFor();
    expect(page.url()).toBe(`${app.url}/console/clients/acme`);

    await page.getByRole("button", { name: "New credential" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("User").fill("invoices@acme.example.com");
    await dialog.getByLabel("Password").fill("short");
    await dialog.getByText("At least 6 characters").waitFor();
    expect(await dialog.getByRole("button", { name: "Store" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Password").fill(secret);
    await dialog.getByRole("button", { name: "Store" }).click();
    await dialog.getByRole("alert").getByText("needs smtp_host, imap_host or both").waitFor();
    await dialog.getByLabel("IMAP host").fill("imap.acme.example.com");
    await dialog.getByRole("button", { name: "Store" }).click();
    await row(page, "Mailbox").waitFor();

    await page.getByRole("button", { name: "Replace credential email" }).click();
    expect(await dialog.getByLabel("Password").inputValue()).toBe("");
    await page.keyboard.press("Escape");
    expect(await page.content()).not.toContain(secret);
    expect((await Promise.all(answers)).join()).not.toContain(secret);
    expect(await page.evaluate("JSON.stringify([localStorage, sessionStorage])")).not.toContain(secret);
    expect(await Array.fromAsync(app.nova.credentials.list({ client: "acme" }))).toMatchObject([
      { name: "email", kind: "email" },
    ]);
  });

  it("saves all digits in the variables of a client, and changes one quota without changing the others", async () => {
    const page = await app.open("/clients/acme");
    const variables = page.getByLabel("Variables as a JSON object");
    const part = page.getByRole("region", { name: "Variables" });
    await variables.fill('{"limit": 850.0, "id": 12345678901234567890');
    await part.getByText("This is not a JSON object").waitFor();
    expect(await part.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await variables.fill('{"limit": 850.0, "id": 12345678901234567890}');
    await part.getByRole("button", { name: "Save" }).click();
    await part.getByText("Saved").waitFor();
    const quotas = page.getByRole("region", { name: "Quotas" });
    await quotas.getByLabel("Runs at once").fill("5");
    await quotas.getByRole("button", { name: "Save" }).click();
    await quotas.getByText("Saved").waitFor();

    const headers = { authorization: `Bearer ${app.key}` };
    const stored = await (await fetch(`${app.url}/clients/acme`, { headers })).text();
    expect(stored).toMatch(/"variables":\{"limit": ?850\.0,"?\s*"id": ?12345678901234567890\}/);
    expect(JSON.parse(stored).quotas).toEqual({ max_concurrent: 5, max_cost_usd: null, retention_days: null });
    await page.reload();
    expect(await variables.inputValue()).toBe('{\n  "limit": 850.0,\n  "id": 12345678901234567890\n}');
  });

  it("downloads all records that NOVA stores for a client, one per line", async () => {
    const page = await app.open("/clients/acme");
    const downloaded = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download records" }).click();
    const download = await downloaded;
    expect(download.suggestedFilename()).toBe("acme.jsonl");
    const text = await new Response((await download.createReadStream()) as never).text();
    const records = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records).toContainEqual(expect.objectContaining({ kind: "item", entity: "client" }));
    expect(text).not.toContain(secret);
  });

  it("deletes a client after the user types its slug", async () => {
    const page = await app.open("/clients/acme");
    await page.getByRole("button", { name: "Delete client" }).click();
    const dialog = page.getByRole("dialog");
    const button = dialog.getByRole("button", { name: "Delete client" });
    await dialog.getByLabel("Type acme to confirm").fill("acm");
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByLabel("Type acme to confirm").fill("acme");
    await button.click();
    await page.getByText("acme is being erased").waitFor();
  });

  it("shows a new API key once, and the API accepts this key", async () => {
    const page = await app.open("/keys");
    await page.getByRole("button", { name: "New key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("dashboard");
    await dialog.getByLabel("Role").selectOption("viewer");
    await dialog.getByRole("button", { name: "New key" }).click();
    await dialog.getByText("Copy the key now").waitFor();
    await dialog.getByRole("button", { name: "Copy" }).click();
    const key = String(await page.evaluate("navigator.clipboard.readText()"));
    await dialog.getByRole("button", { name: "I have copied it" }).click();
    expect(await page.content()).not.toContain(key);
    const read = (path: string) => fetch(app.url + path, { headers: { authorization: `Bearer ${key}` } });
    expect([(await read("/clients")).status, (await read("/keys")).status]).toEqual([200, 403]);

    await page.getByRole("button", { name: "Delete key dashboard" }).click();
    await dialog.getByRole("button", { name: "Delete key" }).click();
    await row(page, "dashboard").waitFor({ state: "detached" });
    expect((await read("/clients")).status).toBe(401);
  });

  it("says which role a page needs if the API key of the user may not see the page", async () => {
    const { key } = await app.nova.keys.create({ role: "viewer", name: "looks on" });
    const page = await app.openSignedOut();
    await page.addInitScript((text) => sessionStorage.setItem("nova-key", text), key);
    for (const path of ["/keys", "/audit"]) {
      await page.goto(`${app.url}/console${path}`);
      await page.getByText("Your key may not see this").waitFor();
      await page.getByText("this needs the role admin").waitFor();
    }
  });

  it("keeps the filters of the audit log in the URL", async () => {
    const page = await app.open("/audit?action=key.deleted");
    const rows = page.getByRole("table").getByRole("row");
    await rows.filter({ hasText: "Key deleted" }).first().waitFor();
    expect(await rows.filter({ hasText: "Key created" }).count()).toBe(0);
    await page.getByLabel("Action", { exact: true }).selectOption("credential.set");
    await rows.filter({ hasText: "acme/email" }).waitFor();
    const beginnings = await Promise.all(
      ["columnheader", "cell"].map(async (role) => (await rows.locator(`[role=${role}]`).nth(4).boundingBox())?.x),
    );
    expect(beginnings[0]).toBe(beginnings[1]);
    expect(page.url()).toContain("action=credential.set");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await rows.filter({ hasText: "Key created" }).first().waitFor();
  });

  it("shows untrusted names as plain text, in which no invisible character reverses the letters of the page", async () => {
    const name = "<img src=x onerror=alert(1)> \u202egnp";
    await app.nova.clients.create({ slug: "strange", name });
    await app.nova.keys.create({ role: "viewer", client_slug: "strange", name });
    const page = await app.open("/clients");
    for (const path of ["/clients", "/clients/strange", "/keys", "/audit"]) {
      await page.goto(`${app.url}/console${path}`);
      await page
        .getByText(path === "/audit" ? "strange" : "<img src=x onerror=alert(1)>")
        .filter({ visible: true })
        .first()
        .waitFor();
      expect(await page.locator("main").innerText()).not.toContain("\u202e");
      expect(await page.locator("main img").count()).toBe(0);
    }
    await page.goto(`${app.url}/console/keys`);
    await row(page, "onerror").getByRole("button").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading").getByText("U+202E").waitFor();
    expect(await dialog.innerText()).not.toContain("\u202e");
  });

  it("shows that all services answer", async () => {
    const page = await app.open("/health");
    await page.getByText("Step Functions, which runs the graphs").waitFor();
  });

  it.each([
    ["clients", "/clients", "Globex"],
    ["client", "/clients/globex", "Settings"],
    ["keys", "/keys", "this machine"],
    ["audit", "/audit", "Key created"],
    ["costs", "/costs", "Tokens in"],
    ["health", "/health", "Open runs"],
  ])("conforms to WCAG on the page of %s, in light and dark mode, at three screen widths", async (name, path, text) => {
    const created = app.nova.clients.create({ slug: "globex", name: "Globex" });
    // Only the first of these tests creates the client; for the other tests the client exists already.
    await created.catch(() => undefined);
    const page = await app.open(path);
    await page.getByText(text).filter({ visible: true }).first().waitFor();
    expect(await findingsInEveryLook(page, name)).toEqual([]);
  });
});
