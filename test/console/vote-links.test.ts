// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import PostalMime from "postal-mime";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { findingsInEveryLook, hasBrowser, waitUntil } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

const pays = {
  id: "pays",
  nodes: [
    { id: "start", type: "start" },
    {
      id: "board",
      type: "approval",
      message: "Pay {{amount}}?",
      choices: ["yes", "no"],
      form: { type: "object", required: ["reason"], properties: { reason: { type: "string" } } },
      approvers: { any: ["cfo@acme.com", "ceo@acme.com", "cto@acme.com"], count: 2 },
    },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "board" },
    { from: "board", to: "end", condition: "default" },
  ],
};

describe.skipIf(!hasBrowser)("a mailed link to a task", () => {
  const app = useConsole();
  beforeAll(async () => {
    if (hasBrowser) await app.nova.workflows.publish(pays);
  });

  async function startTask(context: object = { amount: "7 EUR" }): Promise<string> {
    const { execution_id: execution } = await app.nova.executions.execute("pays", { context });
    return vi.waitFor(async () => {
      const all = await Array.fromAsync(app.nova.tasks.list());
      return all.find(({ execution_id }) => execution_id === execution)?.task_id ?? expect.unreachable();
    }, 20_000);
  }

  /**
   * Waits until the person has received `count` mails about the task. Returns the link in the newest of these mails.
   */
  function linkOf(task: string, mail: string, count = 1): Promise<string> {
    return waitUntil(async () => {
      const folder = join(app.folder, ".nova/mail");
      const files = (await readdir(folder)).filter((name) => name.endsWith(".eml")).toSorted();
      const mails = await Promise.all(files.map(async (name) => PostalMime.parse(await readFile(join(folder, name)))));
      const own = mails.filter(({ to, text = "" }) => to?.[0]?.address === mail && text.includes(`/${task}#`));
      expect(own).toHaveLength(count);
      return /http\S+#vote=\S+/.exec(own.at(-1)?.text ?? "")?.[0] ?? expect.unreachable();
    });
  }

  /** Opens a link in a new profile, and notes every request of its page. */
  async function openLink(link: string, key?: string): Promise<{ page: Page; asked: string[] }> {
    const page = await app.openSignedOut();
    if (key !== undefined) await page.addInitScript((own) => sessionStorage.setItem("nova-key", own), key);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(`${request.method()} ${request.url()}`));
    await page.goto(link);
    return { page, asked };
  }

  const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
  const votesOn = async (task: string) => (await app.nova.tasks.get(task)).voting?.votes ?? [];

  it("shows the task without a sign-in, and votes only when the person presses a button", async () => {
    const task = await startTask();
    const link = await linkOf(task, "cfo@acme.com");
    expect(link).toMatch(new RegExp(`^${app.url}/console/tasks/${task}#vote=nova_vl_0_`));
    const { page, asked } = await openLink(link);
    await page.getByText("Pay 7 EUR?").waitFor();
    await page.getByText("You vote as cfo@acme.com").waitFor();
    expect(await findingsInEveryLook(page, "vote-link")).toEqual([]);
    expect(page.url()).toBe(`${app.url}/console/tasks/${task}`);
    await page.reload();
    await page.getByText("You vote as cfo@acme.com").waitFor();
    expect(await votesOn(task)).toEqual([]);
    expect(asked.filter((request) => request.startsWith("POST"))).toEqual([]);
    await page.getByLabel("reason").fill("cheap");
    await press(page, "yes");
    await page.getByText("Your vote is stored: yes").waitFor();
    await page.getByText("One more person must make this choice.").waitFor();
    expect(await findingsInEveryLook(page, "vote-link-used")).toEqual([]);
    expect(await votesOn(task)).toMatchObject([{ by: "cfo@acme.com", choice: "yes", via: { kind: "mail" } }]);
    const token = link.split("#vote=")[1] as string;
    expect(asked.filter((request) => request.includes(token))).toEqual([]);
  });

  it("shows one sentence instead of the task if the link was already used, was altered, or is opened by another person", async () => {
    const task = await startTask();
    const link = await linkOf(task, "cfo@acme.com");
    const { key } = await app.nova.keys.create({ role: "runner", identity: "eve@acme.com" });
    const shows = async (url: string, sentence: string, own?: string) => {
      const { page } = await openLink(url, own);
      await page.getByText(sentence).waitFor();
      return page;
    };
    await shows(link, "this link votes as cfo@acme.com, and you are signed in as eve@acme.com - sign out", key);
    const changed = await shows(`${link.slice(0, -4)}AAAA`, `this link does not belong to task "${task}"`);
    expect(await findingsInEveryLook(changed, "vote-link-refused")).toEqual([]);
    const ended = await openLink(link, "nova_gone");
    await ended.page.getByLabel("reason").fill("cheap");
    await press(ended.page, "no");
    await ended.page.getByText("Your vote is stored: no").waitFor();
    await shows(link, 'this link to "board" was used at ');
    expect(await votesOn(task)).toHaveLength(1);
  });

  it("leads to a vote, then to a link that withdraws the vote, and then to a link that delegates the task", async () => {
    const task = await startTask();
    const first = await openLink(await linkOf(task, "cfo@acme.com"));
    await first.page.getByLabel("reason").fill("cheap");
    await press(first.page, "yes");
    const second = await openLink(await linkOf(task, "cfo@acme.com", 2));
    await second.page.getByText('cfo@acme.com has voted "yes" on "board"').waitFor();
    expect(await second.page.getByRole("button", { name: "Delegate", exact: true }).isDisabled()).toBe(true);
    await press(second.page, "Withdraw");
    await second.page.getByRole("dialog").getByRole("button", { name: "Withdraw", exact: true }).click();
    await second.page.getByText("This link is used.").waitFor();
    expect(await votesOn(task)).toEqual([]);
    const third = await openLink(await linkOf(task, "cfo@acme.com", 3));
    await press(third.page, "Delegate");
    await third.page.getByLabel("Mail address").fill("deputy@acme.com");
    await third.page.getByRole("dialog").getByRole("button", { name: "Delegate", exact: true }).click();
    await third.page.getByText("This link is used.").waitFor();
    const { page } = await openLink(await linkOf(task, "deputy@acme.com"));
    await page.getByText("deputy@acme.com votes instead of cfo@acme.com").waitFor();
    await page.getByLabel("reason").fill("cheap");
    await press(page, "yes");
    await page.getByText("Your vote is stored: yes").waitFor();
  });

  it("shows the message that a value of the context is too large instead of this value", async () => {
    const task = await startTask({ amount: "7".repeat(100_000) });
    const { page } = await openLink(await linkOf(task, "cfo@acme.com"));
    await page.getByText("too large to be shown here").waitFor();
  });
});

describe.skipIf(!hasBrowser)("the buttons of a person who is signed in", () => {
  const app = useConsole();

  it("withdraw a vote and delegate a task, and say why they are disabled", async () => {
    await app.nova.workflows.publish(pays);
    const { execution_id: execution } = await app.nova.executions.execute("pays", { context: { amount: "7 EUR" } });
    const task = await vi.waitFor(async () => {
      const all = await Array.fromAsync(app.nova.tasks.list());
      return all.find(({ execution_id }) => execution_id === execution)?.task_id ?? expect.unreachable();
    }, 20_000);
    const { key } = await app.nova.keys.create({ role: "runner", identity: "cfo@acme.com" });
    const page = await app.openSignedOut();
    await page.addInitScript((own) => sessionStorage.setItem("nova-key", own), key);
    await page.goto(`${app.url}/console/tasks/${task}`);
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    const reasonOf = async (name: string) => {
      const id = await button(name).getAttribute("aria-describedby");
      return page.locator(`#${id}`).textContent();
    };
    expect(await button("Withdraw").isDisabled()).toBe(true);
    expect(await reasonOf("Withdraw")).toBe('cfo@acme.com has no vote on "board" to withdraw - vote first');
    await page.getByLabel("reason").fill("cheap");
    await button("yes").click();
    await page.getByText("cfo@acme.com voted: yes").waitFor();
    expect(await button("Delegate").isDisabled()).toBe(true);
    expect(await reasonOf("Delegate")).toMatch(/^cfo@acme.com has voted "yes" on "board" at .* - withdraw that vote/);
    expect(await findingsInEveryLook(page, "vote-buttons")).toEqual([]);
    await button("Withdraw").click();
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw", exact: true }).click();
    await page.getByText("cfo@acme.com voted: yes").waitFor({ state: "detached" });
    await button("Delegate").click();
    await page.getByLabel("Mail address").fill("not an address");
    await page.getByLabel("Mail address").fill("ceo@acme.com");
    await page.getByRole("dialog").getByRole("button", { name: "Delegate", exact: true }).click();
    await page.getByRole("dialog").getByText('ceo@acme.com may answer "board" already').waitFor();
    await page.getByLabel("Mail address").fill("deputy@acme.com");
    await page.getByRole("dialog").getByRole("button", { name: "Delegate", exact: true }).click();
    await page.getByText("deputy@acme.com votes instead of cfo@acme.com").waitFor();
    expect(await button("yes").isDisabled()).toBe(true);
  });
});
