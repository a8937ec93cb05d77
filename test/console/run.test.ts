import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { desk, hasBrowser, phone, waitUntil } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

/** Clicks a node until its panel has `part`: the graph moves after an unfolding, so on a busy machine a click can miss. */
async function clickUntil(target: Locator, part: Locator): Promise<void> {
  await waitUntil(async () => {
    await target.click();
    expect(await part.count()).toBe(1);
  });
}

describe.skipIf(!hasBrowser)("the page of a run", () => {
  const app = useConsole();
  const node = (page: Page, name: string) => page.locator(`.react-flow__node[data-id="${name}"] .node`);

  async function begin(workflow: string, context: object = {}): Promise<string> {
    return (await app.nova.executions.execute(workflow, { context })).execution_id;
  }

  async function runToEnd(workflow: string, context: object = {}): Promise<string> {
    return (await app.nova.executions.run(workflow, { context })).execution_id;
  }

  it("shows the failed line and its error one click after the list, and the context one click later", async () => {
    await runToEnd("orders", { total: 9500 });
    const page = await app.open("/");
    await page.getByRole("link", { name: "orders" }).click();
    const panel = page.getByRole("complementary", { name: "Entry" });
    expect(await panel.locator("[data-marked]").innerText()).toContain("rate = rates['USD']");
    await panel.getByText("KeyError: 'USD'").first().waitFor();
    await panel.getByRole("tab", { name: "Context" }).click();
    await panel.getByText("It changed nothing.").waitFor();
    await panel.getByRole("tab", { name: "Logs" }).click();
    await panel.getByText("no rate").waitFor();
  });

  it("shows all digits of numbers", async () => {
    const id = await runToEnd("orders", { total: 250 });
    const page = await app.open(`/runs/${id}?node=read`);
    const panel = page.getByRole("complementary", { name: "Entry" });
    await panel.getByRole("tab", { name: "Context" }).click();
    await panel.getByText("12345678901234567890").waitFor();
    await panel.getByText("850.0").waitFor();
  });

  it("shows the first rows of a workbook, and folds long values so that the others stay visible", async () => {
    const code = `
import io, zipfile
rows = ''.join(f'<row r="{row}"><c r="A{row}" t="s"><v>0</v></c><c r="C{row}"><v>{row}.50</v></c></row>' for row in range(1, 61))
packed = io.BytesIO()
with zipfile.ZipFile(packed, 'w', zipfile.ZIP_DEFLATED) as book:
    book.writestr('xl/worksheets/sheet1.xml', f'<worksheet><sheetData>{rows}</sheetData></worksheet>')
    book.writestr('xl/sharedStrings.xml', '<sst><si><t>paper</t></si></sst>')
context['book'] = packed.getvalue()
context['long'] = list(range(1000))
context['short'] = [7]
`;
    await app.nova.workflows.publish({
      id: "books",
      nodes: [
        { id: "start", type: "start" },
        { id: "write", type: "action", code },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "write" },
        { from: "write", to: "end" },
      ],
    });
    const page = await app.open(`/runs/${await runToEnd("books")}`);
    const panel = page.getByRole("complementary", { name: "Entry" });
    await panel.locator(".blob", { hasText: "book" }).getByRole("button", { name: "Show" }).click();
    const table = panel.getByRole("group", { name: "The first 50 rows" });
    const first = table.getByRole("row").first();
    await first.getByText("1.50").waitFor();
    expect(await first.getByRole("cell").allInnerTexts()).toEqual(["paper", "", "1.50"]);
    expect(await table.getByRole("row").count()).toBe(50);
    expect(await panel.getByRole("button", { name: /^long/ }).getAttribute("aria-expanded")).toBe("false");
    expect(await panel.getByRole("button", { name: /^short/ }).getAttribute("aria-expanded")).toBe("true");
  });

  it("shows running nodes and live output, and cancels the run", async () => {
    const id = await begin("slow");
    const page = await app.open(`/runs/${id}`);
    await page.locator(`.react-flow__node[data-id="work"] .node[data-state="running"]`).waitFor();
    await node(page, "work").click();
    await page.getByRole("complementary").getByText("at it").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.locator("header").getByText("Cancelled").waitFor();
    expect(await node(page, "rest").getAttribute("data-state")).toBe("idle");
  });

  it("polls the run with ETags at growing intervals, and the server answers 304", async () => {
    const id = await begin("waits", { amount: "1 200 EUR" });
    const page = await app.open(`/runs/${id}`);
    const statuses: number[] = [];
    page.on("response", (answer) => {
      if (answer.url().includes(`/executions/${id}`)) statuses.push(answer.status());
    });
    await page.locator(`.react-flow__node[data-id="manager"] .node[data-state="waiting"]`).waitFor();
    await waitUntil(() => expect(statuses.slice(-4)).toEqual([304, 304, 304, 304]));
    await app.nova.ask(
      app.nova.api.POST("/executions/{id}/answer", { params: { path: { id } }, body: { choice: "approved" } }),
    );
    await page.locator("header").getByText("Completed").waitFor();
  });

  it("folds a map into a summary of its items, unfolds it to its nodes, and lists failed items first", async () => {
    const id = await runToEnd("prices");
    const page = await app.open(`/runs/${id}`);
    await node(page, "each").getByText("14 items, 2 failed").waitFor();
    await page.getByRole("button", { name: "Unfold each" }).click();
    const panel = page.getByRole("complementary", { name: "Entry" });
    const items = panel.getByRole("region", { name: "Visits of this node" }).getByRole("button");
    await clickUntil(node(page, "price"), items.first());
    await panel.getByText("ValueError: no price").first().waitFor();
    expect(await items.first().innerText()).toMatch(/^item 3\s+ValueError: no price/);
    expect(await items.nth(2).innerText()).toMatch(/^item 0\s+Completed/);
  });

  it("unfolds a child run in place, with its entries", async () => {
    const id = await runToEnd("nightly");
    const page = await app.open(`/runs/${id}`);
    await page.getByRole("button", { name: "Unfold orders" }).click();
    await page.getByRole("button", { name: /^orders\/book/ }).waitFor();
    const logs = page.getByRole("complementary", { name: "Entry" }).getByRole("tab", { name: "Logs" });
    await clickUntil(node(page, "orders/read"), logs);
    await logs.click();
    await page.getByText("reading 250").waitFor();
  });

  it("shows the number of iterations of a loop", async () => {
    const id = await runToEnd("polls");
    const page = await app.open(`/runs/${id}`);
    await node(page, "ask").getByText("3 visits").waitFor();
    await page.getByText("2/5").waitFor();
  });

  it("restarts the run from a node after a forecast of executed and reused nodes", async () => {
    const id = await runToEnd("orders", { total: 2000 });
    const page = await app.open(`/runs/${id}?node=tell`);
    await page.getByRole("button", { name: "Restart from here" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: /^Runs \d/ }).waitFor();
    expect(await dialog.locator(".places", { hasText: "Reused" }).innerText()).toContain("read");
    await dialog.getByRole("button", { name: "Restart", exact: true }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id) && url.pathname.includes("/runs/exec_"));
    await page.getByText("Restarted from").waitFor();
    await page.locator("header").getByText("Completed").waitFor();
    await node(page, "read").getByText("reused").waitFor();
  });

  it("restarts a failed item of a map by its place", { tags: ["deep"] }, async () => {
    const id = await runToEnd("prices");
    const page = await app.open(`/runs/${id}?node=price`);
    await page.getByRole("button", { name: "Restart from here" }).click();
    await page.getByRole("dialog", { name: "Restart: each[3].price" }).locator(".places").first().waitFor();
    expect(await page.getByRole("dialog").locator(".places", { hasText: "repeat its effects" }).innerText()).toContain(
      "each[3].price",
    );
    await page.getByRole("dialog").getByRole("button", { name: "Restart", exact: true }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id) && url.pathname.includes("/runs/exec_"));
    await page.locator(".run-top").getByText("Completed").waitFor();
    await node(page, "load").getByText("reused").waitFor();
    await node(page, "each").getByText("14 items, 2 failed, 13 reused").waitFor();
    await page.getByRole("button", { name: "Unfold each" }).click();
    await node(page, "price").click();
    const items = page.getByRole("region", { name: "Visits of this node" }).getByRole("button");
    await items.getByText("item 3", { exact: true }).waitFor();
    await items.filter({ hasText: "item 0" }).getByText("reused").click();
    const panel = page.getByRole("complementary", { name: "Entry" });
    await panel.getByRole("tab", { name: "Details" }).click();
    await panel.getByRole("link", { name: id }).click();
    await page.waitForURL((url) => url.pathname.endsWith(id) && url.searchParams.get("node") === "price");
  });

  it("verifies the chain of the run, and copies the pull command", async () => {
    const id = await runToEnd("polls");
    const page = await app.open(`/runs/${id}`);
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page.getByText(/^\d+ entries verified, signed$/).waitFor();
    await page.getByRole("button", { name: "Copy pull command" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`nova pull ${id}`);
  });

  it("copies the command that adds the run as a test, and refuses an invalid test name", async () => {
    const id = await runToEnd("polls");
    const page = await app.open(`/runs/${id}`);
    await page.getByRole("button", { name: "Add as test" }).click();
    const name = page.getByLabel("Name of the test");
    await name.fill("../polls");
    expect(await page.getByRole("button", { name: "Copy command" }).isDisabled()).toBe(true);
    await name.fill("polls-twice");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`nova test add ${id} --name polls-twice`);
  });

  it("names the run in the browser tab, and links to the page of the run in Step Functions if there is one", async () => {
    const id = await runToEnd("polls");
    const page = await app.open(`/runs/${id}`);
    await page.getByRole("button", { name: "Restart", exact: true }).waitFor();
    expect(await page.title()).toBe(`${id} · Runs · NOVA`);
    expect(await page.getByRole("link", { name: "Step Functions" }).count()).toBe(0);
    const to = "https://eu-west-1.console.aws.amazon.com/states/home";
    await page.route(`**/executions/${id}?*`, async (route) => {
      const answer = await route.fetch();
      const text = (await answer.text()).replace(`"state_machine_pages":[]`, `"state_machine_pages":["${to}"]`);
      await route.fulfill({ response: answer, body: text });
    });
    await page.reload();
    expect(await page.getByRole("link", { name: "Step Functions" }).getAttribute("href")).toBe(to);
    await page.getByRole("link", { name: "All runs" }).click();
    await waitUntil(async () => expect(await page.title()).toBe("Runs · NOVA"));
  });

  it("suggests a next step if the run does not exist or the server is down", async () => {
    const page = await app.open("/runs/exec_01M8AE3FM12NENMCX6YM6S565Q");
    await page.getByText("There is no such run").waitFor();
    await page.route("**/executions?**", (route) => route.fulfill({ status: 500, body: "{}" }));
    await page.getByRole("link", { name: "All runs" }).click();
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await page.unroute("**/executions?**");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("table").waitFor();
  });

  it("leads to the other pages even if one cannot be loaded, and loads that page when the user opens it again", async () => {
    const page = await app.open("/", { complains: true });
    await page.route(/tasks-page-.*\.js$/, (route) => route.abort());
    await page.getByRole("link", { name: "Tasks" }).click();
    await page.getByText("This page failed.").waitFor();
    await page.getByRole("link", { name: "Workflows" }).click();
    await page.getByRole("heading", { name: "Workflows" }).waitFor();
    await page.unroute(/tasks-page-.*\.js$/);
    await page.getByRole("link", { name: "Tasks" }).click();
    await page.getByRole("heading", { name: "Tasks" }).waitFor();
  });

  it("fits the whole graph after a resize, unless the user has moved the graph", async () => {
    const id = await runToEnd("orders", { total: 2500 });
    const page = await app.open(`/runs/${id}`);
    const measureLeft = async () => {
      const [start, pane] = [await node(page, "start").boundingBox(), await page.locator(".react-flow").boundingBox()];
      return Math.round((start?.x ?? 0) - (pane?.x ?? 0));
    };
    await node(page, "end").waitFor();

    await page.setViewportSize(phone);
    const inSight = expect.toSatisfy((x) => x > 0 && x < phone.width / 2);
    await waitUntil(async () => expect(await measureLeft()).toEqual(inSight));
    const fitted = await measureLeft();
    await page.mouse.move(30, 500);
    await page.mouse.down();
    await page.mouse.move(90, 560, { steps: 5 });
    await page.mouse.up();
    const moved = await measureLeft();
    expect(moved).toBeGreaterThan(fitted + 40);

    await page.setViewportSize(desk);
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
    expect(await measureLeft()).toBe(moved);
  });

  it("shows graph, timeline and entry one at a time on a phone", async () => {
    const id = await runToEnd("orders", { total: 9500 });
    const page = await app.open(`/runs/${id}`, { viewport: phone });
    await page.getByRole("alert").getByText("book failed").waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.getByRole("button", { name: /^book/ }).click();
    await page.locator("[data-marked]").waitFor();
  });
});
