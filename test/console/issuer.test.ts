// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findingsInEveryLook, hasBrowser } from "./support/browser.ts";
import { type Issuer, openIssuer } from "./support/open-issuer.ts";
import { useConsole } from "./support/use-console.ts";

describe.skipIf(!hasBrowser)("the console, if an issuer signs users in,", () => {
  let issuer: Issuer;
  beforeAll(async () => {
    issuer = await openIssuer("console", "nova");
    Object.assign(process.env, {
      NOVA_JWT_ISSUER: issuer.url,
      NOVA_CONSOLE_CLIENT_ID: "console",
      NOVA_CONSOLE_TOKEN_ORIGIN: issuer.url.replace("127.0.0.1", "localhost"),
    });
  });
  const app = useConsole();
  beforeEach(() => {
    issuer.behaviour = { claims: { nova_role: "admin", nova_client: "*" }, expiresIn: 300 };
    issuer.grants.length = 0;
  });
  afterAll(async () => {
    await issuer[Symbol.asyncDispose]();
  });

  const readTokens = (page: Page) =>
    page.evaluate("JSON.parse(sessionStorage.getItem('nova-tokens'))") as Promise<StoredTokens>;
  const button = (page: Page) => page.getByRole("button", { name: `Sign in with ${new URL(issuer.url).host}` });

  async function signIn(path = "/costs?range=7d"): Promise<Page> {
    const page = await app.openSignedOut();
    await page.goto(`${app.url}/console${path}`);
    await button(page).click();
    return page;
  }

  it("returns to the opened page, keeps the token in the browser tab, and leaves no code in the URL", async () => {
    const page = await signIn();
    await page.getByRole("heading", { name: "Costs", exact: true }).waitFor();
    expect(page.url()).toBe(`${app.url}/console/costs?range=7d`);
    await page.getByText("No model costs").waitFor();
    expect(issuer.grants).toMatchObject([{ grant_type: "authorization_code", client_id: "console" }]);
    expect(await page.evaluate("JSON.stringify([localStorage, document.cookie])")).not.toContain("eyJ");
    await page.goBack();
    expect(page.url()).not.toContain("code=");
  });

  it("renews an expiring token once for all requests, and uses each refresh token once", async () => {
    issuer.behaviour.expiresIn = 50;
    const page = await signIn();
    await page.getByText("No model costs").waitFor();
    const renewals = issuer.grants.filter(({ grant_type }) => grant_type === "refresh_token");
    expect(renewals.length).toBeGreaterThan(0);
    expect(new Set(renewals.map(({ refresh_token }) => refresh_token)).size).toBe(renewals.length);
    issuer.behaviour.expiresIn = 300;
    await page.reload();
    await page.getByText("No model costs").waitFor();
    const { endsAt } = await readTokens(page);
    expect(endsAt - Date.now()).toBeGreaterThan(200_000);
    const grantCount = issuer.grants.length;
    await page.reload();
    await page.getByText("No model costs").waitFor();
    expect(issuer.grants).toHaveLength(grantCount);
  });

  it("shows why the issuer refused the user, who can then sign in with an API key", async () => {
    issuer.behaviour.refuses = "access_denied";
    const page = await signIn();
    await page.getByRole("alert").getByText("The issuer refused: access_denied.").waitFor();
    expect(page.url()).toBe(`${app.url}/console/`);
    await page.getByLabel("API key").fill(app.key);
    await page.keyboard.press("Enter");
    await page.getByText("No runs yet").waitFor();
  });

  it("refuses an answer of the issuer that this browser tab did not request", async () => {
    const page = await app.openSignedOut();
    await page.goto(`${app.url}/console/?code=stolen&state=guessed`);
    await page.getByRole("alert").getByText("This sign-in was not started in this tab.").waitFor();
    expect(page.url()).toBe(`${app.url}/console/`);
    expect(issuer.grants).toEqual([]);
  });

  it("signs the user out of the console and of the issuer, and puts no token into any URL", async () => {
    const page = await signIn();
    await page.getByText("No model costs").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await button(page).waitFor();
    const back = encodeURIComponent(`${app.url}/console/`);
    expect(issuer.ended).toEqual([`/logout?client_id=console&post_logout_redirect_uri=${back}`]);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  it("accepts tokens only from the configured origin", async () => {
    issuer.behaviour.tokenHost = "[::1]";
    const refused = await signIn();
    await refused.getByRole("alert").getByText("issues its tokens on another host").waitFor();
    issuer.behaviour.tokenHost = "localhost";
    const page = await signIn();
    await page.getByText("No model costs").waitFor();
  });

  it("shows an error if the issuer's token contains no role", async () => {
    issuer.behaviour.claims = {};
    const page = await signIn("/");
    await page.getByRole("alert").getByText("gives you no role here").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  it("shows the pages that the user's role may see, and explains on all other pages which right the user lacks", async () => {
    issuer.behaviour.claims = { nova_role: "viewer", nova_client: "*" };
    const page = await signIn("/audit");
    await page.getByText("Your key may not see this").waitFor();
    await page.getByText("this needs the role admin").waitFor();
  });

  it("conforms to WCAG on the sign-in page, in light and dark mode, at three screen widths", async () => {
    const page = await app.openSignedOut();
    await page.goto(`${app.url}/console/`);
    await button(page).waitFor();
    expect(await findingsInEveryLook(page, "sign-in-issuer")).toEqual([]);
  });
});

interface StoredTokens {
  endsAt: number;
}
