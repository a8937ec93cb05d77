// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { readFile } from "node:fs/promises";
import { unzipSync } from "fflate";
import type { Page, Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import { desk, findingsInEveryLook, hasBrowser, tabTo, waitUntil, waitUntilLoaded } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

describe.skipIf(!hasBrowser)("the console of a server without workflows", () => {
  const app = useConsole({ isEmpty: true });

  const dialog = (page: Page) => page.getByRole("dialog");
  const panel = (page: Page) => page.getByRole("complementary");
  const card = (page: Page, name: string) => page.locator(".react-flow__node").filter({ hasText: name });
  const sessionOf = (page: Page) => page.url().split("/").at(-1)?.split("?")[0] ?? "";

  async function write(page: Page, code: string): Promise<void> {
    await page.locator('.cm-content[contenteditable="true"]').click();
    await page.keyboard.press("Control+a");
    // Deletes the selected text first. Otherwise the browser would give the inserted text its inline style, which the
    // page's Content-Security-Policy forbids.
    await page.keyboard.press("Delete");
    await page.keyboard.insertText(code);
  }

  it("runs the sample invoice with one click", async () => {
    const page = await app.open("/workflows");
    await page.getByText("No workflows yet").waitFor();
    expect(await findingsInEveryLook(page, "first-steps")).toEqual([]);
    await page.getByRole("button", { name: "Run the invoice sample" }).click();
    await page.waitForURL(/\/runs\/exec_/);
    await page.getByText("Completed").first().waitFor();
  });

  it("lets a user with a mouse build a workflow from an empty draft, fix the node that failed, and complete the run", async () => {
    const page = await app.open("/workflows");
    await page.getByRole("button", { name: "New workflow" }).first().click();
    expect(await findingsInEveryLook(page, "new-workflow")).toEqual([]);
    await dialog(page).getByLabel("Name").fill("Bills");
    await dialog(page).getByText("Its id becomes bills.").waitFor();
    await dialog(page).getByRole("button", { name: "Create" }).click();
    await page.getByText("The draft has no nodes yet").waitFor();

    await page.getByRole("button", { name: "Sample input" }).click();
    const past = dialog(page).getByRole("combobox", { name: "From a past run" });
    const label = await past.locator("option").nth(1).innerText();
    expect(label).toMatch(/^\d\d:\d\d:\d\d · Completed · Invoice v1 · default · [\d.]+ m?s · …[0-9A-Z]{8}$/);
    await past.selectOption({ label });
    const context = dialog(page).getByLabel("Context as a JSON object");
    await waitUntil(async () => expect(JSON.parse(await context.inputValue())).toHaveProperty("text"));
    await context.fill('{"net": 100}');
    await dialog(page).getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Add a node" }).first().click();
    await dialog(page).getByLabel("Name").fill("Read the bill");
    await dialog(page).getByText("Its id becomes read_the_bill.").waitFor();
    await dialog(page).getByRole("button", { name: "Add a node" }).click();
    await write(page, 'context["vat"] = 21');
    await panel(page).getByText("No findings").waitFor();

    await page.getByRole("button", { name: "Add a node after Read the bill" }).click();
    await dialog(page).getByLabel("Name").fill("Sum");
    await dialog(page).getByRole("button", { name: "Add a node" }).click();
    await panel(page).getByRole("heading", { name: "sum" }).waitFor();
    await write(page, 'context["total"] = context["net"] + context["vat"]');
    await panel(page).getByText("No findings").waitFor();
    await page.getByRole("button", { name: "Run stale nodes" }).click();
    await waitUntil(async () => expect(await card(page, "Sum").textContent()).toContain("121"));
    expect(await findingsInEveryLook(page, "build")).toEqual([]);

    await page.getByRole("button", { name: "Publish" }).click();
    await dialog(page).getByText("No findings").waitFor();
    await dialog(page).getByRole("button", { name: "Publish" }).click();
    await dialog(page).getByText("Version 1 of bills is ready.").waitFor();
    await dialog(page).getByRole("link", { name: "Open the workflow" }).click();

    await page.setViewportSize(desk);
    const { execution_id } = await app.nova.executions.run("bills", { context: { net: "100" } });
    await page.goto(`${app.url}/console/runs/${execution_id}`);
    await page.getByRole("group", { name: "Values that the line reads" }).getByText("100").waitFor();
    await page.getByRole("button", { name: "Edit and try" }).click();
    await write(page, 'context["total"] = int(context["net"]) + context["vat"]');
    await page.getByRole("button", { name: "Run this node" }).click();
    await page.getByText("The node works with the recorded context.").waitFor();
    await page.getByRole("button", { name: "Publish and continue" }).click();
    await dialog(page).locator(".cm-changedLine").waitFor();
    await dialog(page).getByRole("button", { name: "Publish and continue" }).click();
    await page.getByRole("link", { name: "Open the new run" }).click();
    await page.getByText("Completed").first().waitFor();
    expect((await app.nova.workflows.get("bills")).version).toBe(2);
  });

  it("lets a user who has only a keyboard build a workflow, fix the node that failed, complete the run, and undo a deletion", async () => {
    const page = await app.open("/workflows");
    const button = (name: string) => page.getByRole("button", { name, exact: true }).first();
    const pressButton = async (name: string, most?: number) => {
      await tabTo(page, button(name), most);
      await page.keyboard.press("Enter");
    };
    await pressButton("New workflow", 25);
    await tabTo(page, dialog(page).getByLabel("Name"), 3);
    await page.keyboard.type("Keys");
    await page.keyboard.press("Enter");
    await page.getByText("The draft has no nodes yet").waitFor();
    const session_id = sessionOf(page);
    await pressButton("Sample input", 30);
    await tabTo(page, dialog(page).getByLabel("Context as a JSON object"), 6);
    await page.keyboard.press("Control+a");
    await page.keyboard.type('{"n": 2}');
    await tabTo(page, dialog(page).getByRole("button", { name: "Save" }));
    await page.keyboard.press("Enter");
    await dialog(page).waitFor({ state: "hidden" });
    await page.keyboard.press("a");
    await page.keyboard.type("Double");
    await page.keyboard.press("Enter");
    await panel(page).getByRole("heading", { name: "double" }).waitFor();
    const editor = page.locator('.cm-content[contenteditable="true"]');
    await editor.waitFor();
    // The keys of the context are known after the first check.
    await page.locator(".writer :is(.findings li, .ok)").first().waitFor();
    await editor.focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.type('context["twice"] = 2 * context["');
    await page.locator(".cm-tooltip-autocomplete").getByText("n", { exact: true }).waitFor();
    // For its first 75 ms the list of completions ignores keys, so that it does not take a key that was meant for the text.
    await page.keyboard.press("Shift", { delay: 100 });
    await page.keyboard.press("Enter");
    await waitUntil(async () => expect(await editor.textContent()).toBe('context["twice"] = 2 * context["n"]'));
    await page.keyboard.press("Control+Enter");
    await panel(page).getByText("twice").last().waitFor();
    await waitUntil(async () => expect(await card(page, "Double").textContent()).toContain("4"));
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.classList.contains('cm-content')")).toBe(false);

    await pressButton("Publish", 80);
    await dialog(page).getByText("No findings").waitFor();
    await tabTo(page, dialog(page).getByRole("button", { name: "Publish" }));
    await page.keyboard.press("Enter");
    await dialog(page).getByText("Version 1 of keys is ready.").waitFor();
    const { execution_id } = await app.nova.executions.run("keys", { context: { n: null } });
    await page.goto(`${app.url}/console/runs/${execution_id}`);
    await pressButton("Edit and try", 60);
    await editor.and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText('context["twice"] = 2 * (context["n"] or 0)');
    await page.keyboard.press("Control+Enter");
    await page.getByText("The node works with the recorded context.").waitFor();
    await page.keyboard.press("Escape");
    await pressButton("Publish and continue", 4);
    await dialog(page).locator(".cm-changedLine").waitFor();
    await tabTo(page, dialog(page).getByRole("button", { name: "Publish and continue" }));
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByRole("link", { name: "Open the new run" }), 4);
    await page.keyboard.press("Enter");
    await page.getByText("Completed").first().waitFor();

    await page.goto(`${app.url}/console/sessions/${session_id}`);
    await card(page, "Double").focus();
    await page.keyboard.press("Delete");
    await waitUntil(async () => expect((await app.nova.sessions.get(session_id)).nodes).toEqual([]));
    await page.keyboard.press("u");
    await waitUntil(async () => expect((await app.nova.sessions.get(session_id)).nodes).toHaveLength(1));
    await page.keyboard.press("U");
    await waitUntil(async () => expect((await app.nova.sessions.get(session_id)).nodes).toEqual([]));
  });

  it("undoes and redoes each step, even if the server has not yet answered the previous step", async () => {
    const nodes = [{ id: "a", type: "action", code: "pass" }];
    const { session_id: id } = await app.nova.sessions.create({ name: "Quick", nodes });
    const page = await app.open(`/sessions/${id}`);
    const answers: (() => void)[] = [];
    await page.route(`**/sessions/${id}?*`, async (route) => {
      if (route.request().method() === "PATCH") await new Promise<void>((answer) => answers.push(answer));
      await route.continue();
    });
    await card(page, "a").focus();
    for (const key of ["Delete", "u", "U", "u"]) await page.keyboard.press(key);
    for (const count of [0, 1, 0, 1]) {
      await waitUntil(() => expect(answers).toHaveLength(1));
      answers.pop()?.();
      await waitUntil(async () => expect((await app.nova.sessions.get(id)).nodes).toHaveLength(count));
    }
  });

  it("still shows the code that the user has saved when an older answer of the server arrives late", async () => {
    const nodes = [{ id: "a", type: "action", code: "context['a'] = 1" }];
    const { session_id: id } = await app.nova.sessions.create({ name: "Late", nodes });
    const page = await app.open(`/sessions/${id}?node=a`);
    await panel(page).getByText("No findings").waitFor();
    let answer = () => {};
    const polled = new Promise<void>((resolve) => {
      const hold = async (route: Route) => {
        const response = await route.fetch();
        resolve();
        await new Promise<void>((release) => {
          answer = release;
        });
        await route.fulfill({ response });
      };
      void page.route(`**/sessions/${id}`, hold, { times: 1 });
    });
    await polled;
    await write(page, "context['b'] = 1");
    await waitUntil(async () => expect(JSON.stringify((await app.nova.sessions.get(id)).nodes)).toContain("['b']"));
    answer();
    await waitUntilLoaded(page);
    expect(await page.locator(".cm-content").textContent()).toBe("context['b'] = 1");
  });

  it("says when a published version is ready, even if Step Functions accepts the version late", async () => {
    const nodes = [{ id: "a", type: "action", code: "pass" }];
    const { session_id: id } = await app.nova.sessions.create({ name: "Slowly", nodes });
    const page = await app.open(`/sessions/${id}`);
    await page.route(`**/sessions/${id}/publish`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), status: "publishing" } });
    });
    await page.getByRole("button", { name: "Publish" }).click();
    await dialog(page).getByRole("button", { name: "Publish" }).click();
    await dialog(page).getByText("Version 1 of slowly is ready.").waitFor();
  });

  it("connects nodes that the user drags, keeps moved nodes in their places, and inserts nodes on edges", async () => {
    const code = (id: string) => ({ id, type: "action", code: "pass" });
    const { session_id: id } = await app.nova.sessions.create({ name: "Drawn", nodes: [code("a"), code("b")] });
    const page = await app.open(`/sessions/${id}`);
    await card(page, "a").first().waitFor();
    const [source, target] = [card(page, "a").first().locator(".source"), card(page, "b").first().locator(".target")];
    await card(page, "a").first().hover();
    await source.hover({ force: true });
    await page.mouse.down();
    await target.hover({ force: true });
    await page.mouse.up();
    await waitUntil(async () => expect((await app.nova.sessions.get(id)).edges).toEqual([{ from: "a", to: "b" }]));

    // Waits for the new layout. The new edge appears together with the layout.
    await page.getByRole("button", { name: "Insert a node between a and b" }).waitFor();
    await card(page, "b")
      .first()
      .hover({ position: { x: 60, y: 14 } });
    const box = await card(page, "b").first().boundingBox();
    await page.mouse.down();
    await page.mouse.move((box?.x ?? 0) + 160, (box?.y ?? 0) + 64, { steps: 5 });
    await page.mouse.up();
    await waitUntil(async () => expect((await app.nova.sessions.get(id)).layout).toHaveProperty("b"));
    const { layout } = await app.nova.sessions.get(id);

    await page.getByRole("button", { name: "Insert a node between a and b" }).click();
    await dialog(page).getByLabel("Name").fill("c");
    await dialog(page).getByLabel("Kind").selectOption("wait");
    await dialog(page).getByRole("button", { name: "Add a node" }).click();
    await waitUntil(async () =>
      expect((await app.nova.sessions.get(id)).edges).toEqual([
        { from: "a", to: "c" },
        { from: "c", to: "b" },
      ]),
    );
    expect((await app.nova.sessions.get(id)).layout).toEqual(layout);
    await panel(page).getByRole("textbox", { name: "seconds" }).fill("90");
    await waitUntil(async () => {
      const { nodes } = await app.nova.sessions.get(id);
      const added = nodes.find(({ node_id }) => node_id === "c");
      expect(added?.definition).toMatchObject({ type: "wait", seconds: 90 });
    });
  });

  it("lets a user draw a loop and run all visits of the nodes in the loop", async () => {
    const nodes = [
      { id: "count", type: "action", code: 'context["n"] = context.get("n", 0) + 1' },
      { id: "check", type: "decision", code: 'context["branch_decision"] = "again" if context["n"] < 3 else "done"' },
      { id: "last", type: "action", code: "pass" },
    ];
    const edges = [
      { from: "count", to: "check" },
      { from: "check", to: "last", condition: "default" },
    ];
    const { session_id: id } = await app.nova.sessions.create({ name: "Rounds", nodes, edges });
    const page = await app.open(`/sessions/${id}`);
    await page.getByRole("button", { name: "Add an edge" }).click();
    await dialog(page).getByLabel("From").selectOption("check");
    await dialog(page).getByLabel("To").selectOption("count");
    await dialog(page).getByLabel("Condition").fill("again");
    await dialog(page).getByRole("button", { name: "Add an edge" }).click();
    await dialog(page).getByText("would close a cycle").waitFor();
    await dialog(page).getByLabel("Rounds at most").fill("5");
    await dialog(page).getByRole("button", { name: "Add an edge" }).click();
    await page.getByText("again max 5").waitFor();
    await page.getByRole("button", { name: "Run stale nodes" }).click();
    await page.getByText("Ran count, check, last.").waitFor();
    await waitUntil(async () => expect(await card(page, "count").textContent()).toContain("3"));
    expect(await findingsInEveryLook(page, "build-loop")).toEqual([]);
  });

  it("shows the same workflow as JSON, and saves it as a ZIP archive", async () => {
    const { session_id: id } = await app.nova.sessions.create({
      name: "Typed",
      nodes: [{ id: "a", type: "action", code: "pass" }],
    });
    const page = await app.open(`/sessions/${id}?view=json`);
    const text = page.getByLabel("The workflow as JSON");
    expect(await text.inputValue()).toContain('"id": "a"');
    await text.fill('{"name": "Typed", "nodes": [');
    await page.getByText("This is no workflow:").waitFor();
    const typed = { name: "Retyped", labels: { n: "{n}" }, nodes: [{ id: "b", type: "wait", seconds: 5 }], edges: [] };
    await text.fill(JSON.stringify(typed));
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("heading", { name: "Retyped" }).waitFor();
    expect(await app.nova.sessions.get(id)).toMatchObject({ name: "Retyped", settings: { labels: { n: "{n}" } } });
    expect(await findingsInEveryLook(page, "build-json")).toEqual([]);
    await page.getByText("Graph", { exact: true }).click();
    await card(page, "b").first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export as ZIP" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("retyped.zip");
    const files = Object.keys(unzipSync(await readFile(await download.path())));
    expect(files).toContain("retyped/workflow.json");
    expect(sessionOf(page)).toBe(id);
  });

  const settingsOf = async (id: string) => (await app.nova.sessions.get(id)).settings;
  const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

  it("lets a user with a mouse add, change, remove and publish triggers and receivers of failures", async () => {
    const nodes = [{ id: "a", type: "action", code: "pass" }];
    const { session_id: id } = await app.nova.sessions.create({ name: "Nightly", nodes });
    const page = await app.open(`/sessions/${id}`);
    await panel(page).getByRole("link", { name: "Add a trigger" }).click();
    await page.getByRole("button", { name: "Schedule" }).click();
    await page.getByRole("button", { name: "Mailbox" }).click();
    const schedule = region(page, "1. Schedule");
    const cron = schedule.getByRole("textbox", { name: "cron" });
    await cron.fill("at nine");
    await schedule.locator(".field-error").filter({ hasText: "has 2 fields and not 6" }).waitFor();
    expect(await findingsInEveryLook(page, "build-triggers")).toEqual([]);
    await page.setViewportSize(desk);
    await cron.fill("0 9 * * ? *");
    await schedule.getByRole("textbox", { name: "every" }).fill("1d");
    await schedule.getByText("has both cron and every").waitFor();
    await schedule.getByRole("textbox", { name: "every" }).fill("");
    await schedule.getByRole("textbox", { name: "timezone" }).fill("Europe/Madrid");
    await waitUntil(async () =>
      expect(await settingsOf(id)).toMatchObject({
        triggers: [{ type: "schedule", cron: "0 9 * * ? *", timezone: "Europe/Madrid" }, { type: "imap" }],
      }),
    );
    const settings = region(page, "Settings");
    const mails = settings.getByRole("group", { name: /^mail/ });
    await mails.getByRole("button", { name: "Add" }).click();
    await mails.getByRole("textbox").fill("ops@example.com");
    await waitUntil(async () =>
      expect(await settingsOf(id)).toMatchObject({ on_failure: { mail: ["ops@example.com"] } }),
    );

    await page.getByRole("button", { name: "Remove trigger 2: Mailbox" }).click();
    await region(page, "2. Mailbox").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Remove trigger 1: Schedule" }).click();
    await schedule.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Undo" }).click();
    await schedule.waitFor();
    expect(await schedule.getByRole("textbox", { name: "timezone" }).inputValue()).toBe("Europe/Madrid");
    await page.getByRole("button", { name: "Publish" }).click();
    await dialog(page).getByText("No findings").waitFor();
    await dialog(page).getByRole("button", { name: "Publish" }).click();
    await dialog(page).getByText("Version 1 of nightly is ready.").waitFor();
    const { definition } = await app.nova.workflows.get("nightly", { version: 1 });
    expect(definition).toMatchObject({
      triggers: [{ type: "schedule", timezone: "Europe/Madrid" }],
      onFailure: { mail: ["ops@example.com"] },
    });
  });

  it("lets a user who has only a keyboard add a trigger, change it, and undo each step", async () => {
    const { session_id: id } = await app.nova.sessions.create({ name: "Shop" });
    const page = await app.open(`/sessions/${id}`);
    const triggers = async () => (await settingsOf(id)).triggers ?? [];
    await tabTo(page, page.getByRole("radio", { name: "Graph" }), 40);
    await page.keyboard.press("ArrowRight");
    await tabTo(page, page.getByRole("button", { name: "Webhook" }));
    await page.keyboard.press("Enter");
    const webhook = region(page, "1. Webhook");
    await webhook.waitFor();
    const address = webhook.getByRole("textbox", { name: "id", exact: true });
    expect(await address.inputValue()).toBe("shop");
    await address.focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("Orders of u");
    await webhook.locator(".field-error").filter({ hasText: "lower case" }).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("orders");
    await waitUntil(async () => expect(await triggers()).toEqual([{ type: "webhook", id: "orders" }]));
    await webhook.getByText("Saved").waitFor();
    await tabTo(page, page.getByRole("button", { name: "Remove trigger 1: Webhook" }), 120);
    for (const value of ["Orders of u", "shop"]) {
      await page.keyboard.press("u");
      await waitUntil(async () => expect(await address.inputValue()).toBe(value));
    }
    expect(await triggers()).toEqual([{ type: "webhook", id: "shop" }]);
    await page.keyboard.press("u");
    await webhook.waitFor({ state: "hidden" });
    await page.keyboard.press("U");
    await webhook.waitFor();
    expect(await triggers()).toEqual([{ type: "webhook", id: "shop" }]);
  });

  const inside = async (id: string, map = "each") => {
    const found = (await app.nova.sessions.get(id)).nodes.find(({ node_id }) => node_id === map);
    return found?.definition as { nodes: { id: string; type: string; code?: string }[]; edges: object[] };
  };

  it("lets a user with a mouse build, run and change the nodes of a map, and undo a change", async () => {
    const { session_id: id } = await app.nova.sessions.create({ name: "Lines", context: { lines: [21, 3] } });
    const page = await app.open(`/sessions/${id}`);
    await page.getByRole("button", { name: "Add a node" }).first().click();
    await dialog(page).getByLabel("Name").fill("Each");
    await dialog(page).getByLabel("Kind").selectOption("map");
    await dialog(page).getByRole("button", { name: "Add a node" }).click();
    await panel(page).getByRole("textbox", { name: "items" }).fill("lines");
    await waitUntil(async () => expect(await inside(id)).toMatchObject({ items: "lines" }));
    await page.getByRole("button", { name: "Open the nodes of Each" }).click();
    await panel(page).getByText("These nodes run once for each item of lines.").waitFor();

    await card(page, "each_item").click();
    await write(page, 'context["twice"] = context["item"] * 2');
    await panel(page).getByText("No findings").waitFor();
    await panel(page).getByRole("button", { name: "Run this node" }).click();
    await waitUntil(async () => expect(await card(page, "each_item").textContent()).toContain("42"));
    await page.getByRole("button", { name: "Add a node after each_item" }).click();
    await dialog(page).getByLabel("Name").fill("Large");
    await dialog(page).getByLabel("Kind").selectOption("decision");
    await dialog(page).getByRole("button", { name: "Add a node" }).click();
    await write(page, 'context["branch_decision"] = "large" if context["twice"] > 9 else "small"');
    await card(page, "Large").getByText("2 findings").or(card(page, "Large").getByText("1 finding")).waitFor();
    for (const [name, kind] of [
      ["Book", "code"],
      ["Stop", "end"],
    ] as const) {
      await page.getByRole("button", { name: "Add a node after Large" }).click();
      await dialog(page).getByLabel("Name").fill(name);
      await dialog(page).getByLabel("Kind").selectOption(kind);
      await dialog(page).getByRole("button", { name: "Add a node" }).click();
      await dialog(page).waitFor({ state: "hidden" });
    }
    await card(page, "stop").waitFor();
    expect(await inside(id)).toMatchObject({
      nodes: [{ id: "each_item" }, { id: "large" }, { id: "book" }, { id: "stop", type: "end" }],
      edges: [
        { from: "each_item", to: "large" },
        { from: "large", to: "book", condition: true },
        { from: "large", to: "stop", condition: false },
      ],
    });
    await page.getByRole("button", { name: "Undo" }).click();
    await card(page, "stop").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Redo" }).click();
    // Waits for the new layout, in which the cards have other places. The edge appears together with the layout.
    await page.getByRole("button", { name: "Insert a node between Large and stop" }).waitFor();
    await waitUntilLoaded(page);
    await card(page, "Book").hover();
    await card(page, "Book").locator(".source").hover({ force: true });
    await page.mouse.down();
    await card(page, "stop").locator(".target").hover({ force: true });
    await page.mouse.up();
    await waitUntil(async () => expect((await inside(id)).edges).toContainEqual({ from: "book", to: "stop" }));

    await card(page, "Book").click();
    await write(page, 'context["booked"] = True');
    await card(page, "Large").click();
    await write(page, 'context["branch_decision"] = context["twice"] > 9');
    await panel(page).getByRole("button", { name: "Run this node" }).click();
    await panel(page).getByText("chose true").waitFor();
    expect(await findingsInEveryLook(page, "build-inside")).toEqual([]);
    await page.setViewportSize(desk);
    await page.getByRole("navigation", { name: "Place in the draft" }).getByRole("link", { name: "Draft" }).click();
    await page.getByRole("button", { name: "Run stale nodes" }).click();
    await page.getByText("Ran each.").waitFor();
    await waitUntil(async () => expect(await card(page, "Each").textContent()).toContain('"twice":6'));
    await page.getByRole("button", { name: "Publish" }).click();
    await dialog(page).getByText("No findings").waitFor();
  });

  it("lets a user who has only a keyboard enter a map, add and delete nodes in it, and return", async () => {
    const item = { id: "one", type: "action", code: "pass" };
    const each = { id: "each", type: "map", items: "lines", nodes: [item], edges: [] };
    const { session_id: id } = await app.nova.sessions.create({ name: "Keys inside", nodes: [each] });
    const page = await app.open(`/sessions/${id}`);
    const idsInside = async () => (await inside(id)).nodes.map((node) => node.id);
    await card(page, "each").focus();
    await page.keyboard.press("Enter");
    await panel(page).getByRole("heading", { name: "each" }).waitFor();
    await page.keyboard.press("o");
    await card(page, "one").waitFor();
    expect(page.url()).toContain("in=each");
    await card(page, "one").focus();
    await page.keyboard.press("Enter");
    await panel(page).getByRole("heading", { name: "one" }).waitFor();
    await page.keyboard.press("a");
    await page.keyboard.type("Two");
    await page.keyboard.press("Enter");
    await panel(page).getByRole("heading", { name: "two" }).waitFor();
    expect((await inside(id)).edges).toEqual([{ from: "one", to: "two" }]);
    await page.keyboard.press("Escape");
    await card(page, "one").focus();
    await page.keyboard.press("Delete");
    await waitUntil(async () => expect(await idsInside()).toEqual(["two"]));
    await page.keyboard.press("u");
    await waitUntil(async () => expect((await idsInside()).sort()).toEqual(["one", "two"]));
    expect((await inside(id)).edges).toEqual([{ from: "one", to: "two" }]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await card(page, "each").waitFor();
    expect(page.url()).not.toContain("in=each");
  });
});
