import { rm } from "node:fs/promises";
import { createClient, type NovaClient } from "@nova/client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { newFolder, type Started, startNova } from "../../cli/support/nova.ts";
import { hasBrowser, type Opened, useBrowser } from "./browser.ts";
import { writeWorkflows } from "./workflows.ts";

export interface TestConsole {
  url: string;
  /** The sign-in link that `nova dev` printed. */
  link: string;
  key: string;
  /** The folder of `nova dev`, with the mails that NOVA has sent in `.nova/mail`. */
  folder: string;
  nova: NovaClient;
  /** Opens a page with a signed-in session. */
  open(path: string, how?: Opened): Promise<Page>;
  /** Opens a page without a key. */
  openSignedOut(how?: Opened): Promise<Page>;
}

interface ConsoleOptions {
  isEmpty?: boolean;
  /** Changes the folder before `nova dev` starts in it. */
  prepare?(folder: string): Promise<void>;
}

/** Starts `nova dev` in a new folder with the workflows of the tests, or without any, and a browser. */
export function useConsole({ isEmpty = false, prepare }: ConsoleOptions = {}): TestConsole {
  const browser = useBrowser();
  const app = { openSignedOut: browser.page } as TestConsole;
  let dev: Started | undefined;
  beforeAll(async () => {
    if (!hasBrowser) return;
    const folder = await newFolder();
    if (!isEmpty) await writeWorkflows(folder);
    await prepare?.(folder);
    dev = startNova(folder, "dev", "--port", "0", "--smtp-port", "0", "--json");
    const { url, api_key: key, console: link } = JSON.parse(await dev.line('"console"'));
    Object.assign(app, { url, link, key, folder, nova: createClient({ url, apiKey: key }) });
    if (!isEmpty) await dev.line('"id":"waits"');
    // Builds the page before the time limit of a test starts.
    await fetch(`${url}/console/`);
  }, 120_000);
  afterAll(async () => {
    if (!hasBrowser) return;
    await browser.close();
    dev?.child.kill("SIGINT");
    // The second SIGINT makes `nova dev` stop without waiting for open runs.
    const later = setTimeout(() => dev?.child.kill("SIGINT"), 2_000);
    await dev?.ended;
    clearTimeout(later);
    if (app.folder) await rm(app.folder, { recursive: true, force: true });
  });
  app.open = async (path, how) => {
    const page = await browser.page(how);
    await page.addInitScript((key) => sessionStorage.setItem("nova-key", key), app.key);
    await page.goto(`${app.url}/console${path}`);
    return page;
  };
  return app;
}
