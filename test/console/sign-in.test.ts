import { describe, expect, it } from "vitest";
import { hasBrowser } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

describe.skipIf(!hasBrowser)("the sign-in page", () => {
  const app = useConsole();

  it("accepts the sign-in link of nova dev once, and keeps the API key in the browser tab and out of the URL", async () => {
    const page = await app.openSignedOut();
    await page.goto(app.link);
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    expect(page.url()).toBe(`${app.url}/console/`);
    expect(await page.evaluate("sessionStorage.getItem('nova-key')")).toBe(app.key);
    expect(await page.evaluate("JSON.stringify([localStorage, document.cookie])")).not.toContain("nova_");
    const later = await app.openSignedOut();
    await later.goto(app.link);
    await later.getByRole("alert").getByText("This link has been used").waitFor();
  });

  it("accepts a pasted API key, and explains why it refuses an invalid API key", async () => {
    const page = await app.openSignedOut();
    await page.goto(app.url);
    await page.getByLabel("API key").fill("nova_wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("No valid key").waitFor();
    await page.getByLabel("API key").fill(app.key);
    await page.keyboard.press("Enter");
    await page.getByText("No runs yet").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});
