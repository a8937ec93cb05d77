import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { desk, hasBrowser, phone, waitUntil } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

/**
 * Clicks a node until its panel contains `part`. One click is not enough on a busy machine, because the graph still
 * moves after a node was unfolded, so that a click can miss the node.
 */
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

  it("shows the failed line and its error after one click in the list of runs, and the context after one more click", async () => {
    await runToEnd("orders", { total: 9500 });
    const page = await app.open("/");
    await page.getByRole("link", { name: "orders" }).click();
    const panel = page.getByRole("complementary", { name: "Entry" });
    expect(await panel.locator("[data-marked]").last().innerText()).toContain("rate = rates['USD']");
    await panel.getByText("KeyError: 'USD'").first().waitFor();
    await panel.getByRole("tab", { name: "Diff" }).click();
    await panel.getByText("It changed nothing.").waitFor();
    await panel.getByRole("tab", { name: "Logs" }).click();
    await panel.getByText("no rate").waitFor();
  });

  it("shows all digits of numbers", { tags: ["deep"] }, async () => {
    const id = await runToEnd("orders", { total: 250 });
    const page = await app.open(`/runs/${id}?node=read`);
    const panel = page.getByRole("complementary", { name: "Entry" });
    await panel.getByRole("tab", { name: "Diff" }).click();
    await panel.getByText("12345678901234567890").waitFor();
    await panel.getByText("850.0").waitFor();
  });

  it("shows the first rows of a workbook, and folds long values so that later values stay visible", {
    tags: ["deep"],
  }, async () => {
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

  it("finds and copies values of a large context, and renders only visible rows", { tags: ["deep"] }, async () => {
    const rows = "context['rows'] = [{'number': index, 'name': f'row {index}'} for index in range(3000)]";
    await app.nova.workflows.publish({
      id: "lists",
      nodes: [
        { id: "start", type: "start" },
        { id: "make", type: "action", code: rows },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "make" },
        { from: "make", to: "end" },
      ],
    });
    const page = await app.open(`/runs/${await runToEnd("lists")}?node=make`);
    const panel = page.getByRole("complementary", { name: "Entry" });
    await panel.getByRole("tab", { name: "Output" }).click();
    await panel.getByRole("button", { name: "Show", exact: true }).click();
    const preview = panel.locator(".blob-preview");
    await preview.locator(".json-fold").nth(20).waitFor();
    expect(await preview.locator(".json-place").count()).toBeLessThan(100);
    await preview.getByRole("searchbox", { name: "Find in the value" }).fill("row 2999");
    await preview.getByText("1 found").waitFor();
    const found = preview.locator("[data-found]");
    expect(await found.innerText()).toMatch(/^name\s*row 2999$/);
    await found.getByRole("button", { name: "Copy" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("row 2999");
    const around = preview.locator(".json-place", { hasText: "2999" }).first();
    await around.getByRole("button", { name: "Copy" }).focus();
    await page.keyboard.press("Enter");
    const copied = JSON.parse((await page.evaluate("navigator.clipboard.readText()")) as string);
    expect(copied).toEqual({ number: 2999, name: "row 2999" });
  });

  it("shows running nodes and live output, and cancels the run", async () => {
    const id = await begin("slow");
    const page = await app.open(`/runs/${id}`);
    await page.locator(`.react-flow__node[data-id="work"] .node[data-state="running"]`).waitFor();
    await node(page, "work").click();
    await page.getByRole("complementary").getByText("at it").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.locator(".run-top").getByText("Cancelled").waitFor();
    expect(await node(page, "rest").getAttribute("data-state")).toBe("idle");
  });

  it("polls the run with ETags at growing intervals, and the server answers 304", { tags: ["deep"] }, async () => {
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

  it("folds a map into a summary of its items, unfolds it to its nodes, and lists failed items first", {
    tags: ["deep"],
  }, async () => {
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

  it("unfolds a child run inside the graph of its parent, with the entries of the child", {
    tags: ["deep"],
  }, async () => {
    const id = await runToEnd("nightly");
    const page = await app.open(`/runs/${id}`);
    await page.getByRole("button", { name: "Unfold orders" }).click();
    await page.getByRole("button", { name: /^orders\/book/ }).waitFor();
    const logs = page.getByRole("complementary", { name: "Entry" }).getByRole("tab", { name: "Logs" });
    await clickUntil(node(page, "orders/read"), logs);
    await logs.click();
    await page.getByText("reading 250").waitFor();
  });

  it("shows the number of visits of a node in a loop, and the limit of the loop", async () => {
    const id = await runToEnd("polls");
    const page = await app.open(`/runs/${id}`);
    await node(page, "ask").getByText("3 visits").waitFor();
    await page.getByText("2/5").waitFor();
  });

  it("shows which nodes a restart would run and reuse, and then restarts the run from a node", async () => {
    const id = await runToEnd("orders", { total: 2000 });
    const page = await app.open(`/runs/${id}?node=tell`);
    await page.getByRole("button", { name: "Restart from here" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: /^Runs again/ }).waitFor();
    expect(await dialog.locator(".places", { hasText: "Reused" }).innerText()).toContain("read");
    await dialog.getByRole("button", { name: "Restart", exact: true }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id) && url.pathname.includes("/runs/exec_"));
    await page.getByText("Restarted from").waitFor();
    await page.locator("header").getByText("Completed").waitFor();
    await node(page, "read").getByText("reused").waitFor();
  });

  it("restarts a run from one failed item of a map, and reuses the other items", { tags: ["deep"] }, async () => {
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
    await panel.getByRole("tab", { name: "Proof", exact: true }).click();
    await panel.getByRole("link", { name: id }).click();
    await page.waitForURL((url) => url.pathname.endsWith(id) && url.searchParams.get("node") === "price");
  });

  it("verifies the chain of the run, and copies the command `nova pull` for the run", async () => {
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

  it("names the run in the browser tab, and links to the page of the run in Step Functions if this page exists", {
    tags: ["deep"],
  }, async () => {
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

  it("shows its links even if the page of one link cannot be loaded, and loads this page again when the user opens it", async () => {
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

  it("fits the whole graph after a resize, unless the user has moved the graph", { tags: ["deep"] }, async () => {
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

  it("keeps the selected node, tab and unfolded nodes in the URL, so that a copied URL shows the same page", {
    tags: ["deep"],
  }, async () => {
    const id = await runToEnd("prices");
    const page = await app.open(`/runs/${id}`);
    await page.getByRole("button", { name: "Unfold each" }).click();
    await node(page, "price").click();
    const tab = (one: Page) => one.getByRole("complementary", { name: "Entry" }).getByRole("tab", { name: "Diff" });
    await tab(page).click();
    await waitUntil(() => expect(page.url()).toContain("tab=diff"));
    const { pathname, search } = new URL(page.url());
    const same = await app.open(pathname.replace("/console", "") + search);
    await node(same, "price").waitFor();
    await waitUntil(async () => expect(await tab(same).getAttribute("aria-selected")).toBe("true"));
  });

  it("shows a period of the timeline and the critical path, by mouse and by keyboard, and keeps them in the URL", {
    tags: ["deep"],
  }, async () => {
    const id = await runToEnd("orders", { total: 2500 });
    const page = await app.open(`/runs/${id}`);
    const timeline = page.getByRole("region", { name: "Timeline" });
    const rows = (one = page) => one.locator(".timeline-rows .timeline-row");
    await rows().nth(5).waitFor();
    const ticks = await timeline.locator(".timeline-tick").allInnerTexts();
    expect(ticks[0]).toBe("0 ms");
    expect(ticks.length).toBeGreaterThan(2);

    await timeline.getByRole("button", { name: "Critical path" }).click();
    await waitUntil(async () => expect(await rows().count()).toBe(5));
    const names = await rows().locator(".timeline-name").allInnerTexts();
    expect(names.filter((name) => name.startsWith("check"))).toHaveLength(1);

    const box = await timeline.locator(".timeline-axis .timeline-track").boundingBox();
    const [x, y, width] = [box?.x ?? 0, (box?.y ?? 0) + 10, box?.width ?? 0];
    await page.mouse.move(x + width * 0.9, y);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.999, y, { steps: 3 });
    await page.mouse.up();
    await waitUntil(async () => expect(await rows().count()).toBeLessThan(5));
    const { pathname, search } = new URL(page.url());
    expect(search).toMatch(/path=critical&zoom=\d+-\d+/);
    const same = await app.open(pathname.replace("/console", "") + search);
    await rows(same).first().waitFor();
    expect(await rows(same).allInnerTexts()).toEqual(await rows().allInnerTexts());

    await page.keyboard.press("0");
    await waitUntil(async () => expect(await rows().count()).toBe(5));
    await page.keyboard.press("+");
    await waitUntil(() => expect(page.url()).toMatch(/zoom=[1-9]/));
  });

  it("marks the end of each item of a map on the timeline, and unfolds the map on the timeline and in the graph", async () => {
    const id = await runToEnd("prices");
    const page = await app.open(`/runs/${id}`);
    const row = page.locator(".timeline-row", { hasText: "14 items" });
    await row.waitFor();
    const marks = await row.locator(".timeline-mark").evaluateAll((all) => all.map((one) => one.getAttribute("title")));
    const ended = marks.map((title) => Number(/^\d+/.exec(title ?? "")?.[0]));
    expect(ended.reduce((sum, count) => sum + count, 0)).toBe(14);
    expect(await row.locator(".timeline-mark.tone-bad").count()).toBeGreaterThan(0);
    await row.click();
    await node(page, "price").waitFor();
    await page.getByRole("button", { name: /^price 0/ }).waitFor();
  });

  it("shows client, starter and input at its top, and opens the entry of the start from the input", async () => {
    const id = await runToEnd("orders", { total: 2500 });
    const page = await app.open(`/runs/${id}`);
    const head = page.locator(".run-facts");
    await head.getByText('{"total":2500}').waitFor();
    expect(await head.innerText()).toMatch(/Client\s+default/);
    expect(await head.innerText()).toMatch(/Started by\s+a key/);
    await head.getByRole("link", { name: '{"total":2500}' }).click();
    const panel = page.getByRole("complementary", { name: "Entry" });
    await panel.getByRole("tab", { name: "Output", selected: true }).waitFor();
    await panel.getByText("2500").waitFor();
  });

  it("shows the output of all nodes in one list, and follows new output while the run is open", {
    tags: ["deep"],
  }, async () => {
    const id = await begin("slow");
    const page = await app.open(`/runs/${id}?lower=logs`);
    const logs = page.getByRole("region", { name: "Logs of all nodes" });
    await logs.getByText("at it").waitFor();
    expect(await logs.getByRole("button", { name: "Follow" }).getAttribute("aria-pressed")).toBe("true");
    await app.nova.executions.cancel(id);
    const done = await runToEnd("orders", { total: 9500 });
    const other = await app.open(`/runs/${done}`);
    await other.getByRole("region", { name: "Timeline" }).getByRole("button", { name: "Logs" }).click();
    const rows = other.getByRole("group", { name: "Logs of all nodes" });
    await rows.getByText("reading 9500").waitFor();
    await rows.getByText("no rate").waitFor();
    await rows.getByRole("button", { name: /^read/ }).click();
    await waitUntil(() => expect(other.url()).toContain("node=read"));
  });

  it("moves the graph to the running node while the user follows it", async () => {
    const page = await app.open(`/runs/${await begin("slow")}?view=0,2000,1`);
    await page.locator(".react-flow__controls").waitFor();
    expect(await node(page, "work").count()).toBe(0);
    const distance = async () => {
      await node(page, "work").waitFor();
      const [box, pane] = [await node(page, "work").boundingBox(), await page.locator(".react-flow").boundingBox()];
      return Math.abs((box?.y ?? 9000) + 25 - (pane?.y ?? 0) - (pane?.height ?? 0) / 2);
    };
    await page.keyboard.press("f");
    await waitUntil(async () => expect(await distance()).toBeLessThan(40));
    await page.getByRole("button", { name: "Follow the running node in the graph", pressed: true }).waitFor();
  });

  it("keeps the visible part of the graph in the URL, and copies a link that shows the same part", async () => {
    const id = await runToEnd("orders", { total: 2500 });
    const page = await app.open(`/runs/${id}?node=read&tab=diff`);
    await node(page, "end").waitFor();
    await page.getByRole("button", { name: "Zoom In", exact: true }).click();
    await page.mouse.move(300, 300);
    await page.mouse.down();
    await page.mouse.move(340, 360, { steps: 4 });
    await page.mouse.up();
    await waitUntil(() => expect(page.url()).toContain("view="));
    await page.getByRole("button", { name: "Copy link to this view" }).click();
    const copied = new URL((await page.evaluate("navigator.clipboard.readText()")) as string);
    expect(copied.searchParams.get("tab")).toBe("diff");
    const same = await app.open(copied.pathname.replace("/console", "") + copied.search);
    const placeOf = async (one: Page) => {
      const box = await node(one, "read").boundingBox();
      return [box?.x, box?.y, box?.width].map((value) => Math.round((value ?? 0) / 4));
    };
    await waitUntil(async () => expect(await placeOf(same)).toEqual(await placeOf(page)));
  });

  it("lets the user widen the inspector by mouse and by keyboard, and keeps its width", async () => {
    const page = await app.open(`/runs/${await runToEnd("polls")}`);
    const edge = page.getByRole("separator", { name: "Width of the inspector" });
    const widthOf = async () => Math.round((await page.locator(".run-panel-box").boundingBox())?.width ?? 0);
    const [narrow, place] = [await widthOf(), await edge.boundingBox()];
    await page.mouse.move((place?.x ?? 0) + 4, 300);
    await page.mouse.down();
    await page.mouse.move((place?.x ?? 0) - 150, 300, { steps: 4 });
    await page.mouse.up();
    const wide = await widthOf();
    expect(wide).toBeGreaterThan(narrow + 100);
    await edge.focus();
    await page.keyboard.press("ArrowLeft");
    expect(await widthOf()).toBeGreaterThan(wide);
    const shown = await edge.getAttribute("aria-valuenow");
    await page.reload();
    expect(await edge.getAttribute("aria-valuenow")).toBe(shown);
  });

  it("compares the run with another run node by node, as the command line does", async () => {
    const [fine, failed] = [await runToEnd("orders", { total: 2500 }), await runToEnd("orders", { total: 9500 })];
    const page = await app.open(`/runs/${failed}`);
    await page.getByRole("button", { name: "Compare" }).click();
    const dialog = page.getByRole("dialog", { name: "Compare two runs" });
    const label = await dialog.locator("option", { hasText: fine.slice(-8) }).innerText();
    await dialog.getByLabel("The other run").selectOption({ label });
    const rows = dialog.getByRole("row");
    await rows.filter({ hasText: "book" }).getByText("booked").waitFor();
    const nodes = await Array.fromAsync(app.nova.executions.diff(fine, failed));
    const ends = nodes.filter(({ path }) => path === "only_a").map(({ place }) => place);
    for (const place of ends) await rows.filter({ hasText: place }).getByText("only in the other run").waitFor();
    expect(ends).toEqual(["end"]);
    expect(await rows.filter({ hasText: "start" }).innerText()).toMatch(/total:?\s*2500[\s\S]*total:?\s*9500/);
    await waitUntil(() => expect(page.url()).toContain(`compare=${fine}`));
    await page.keyboard.press("Escape");
    await waitUntil(() => expect(page.url()).not.toContain("compare"));
  });

  it("shows the failed line in colours, and wraps a long line instead of hiding a part of it", async () => {
    const long = `context['total'] = ${Array.from({ length: 40 }, (_, index) => `${index}`).join(" + ")} + context["undefined_name"]`;
    await app.nova.workflows.publish({
      id: "long-line",
      nodes: [
        { id: "start", type: "start" },
        { id: "add", type: "action", code: `x = "text"\n${long}` },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "add" },
        { from: "add", to: "end" },
      ],
    });
    const page = await app.open(`/runs/${await runToEnd("long-line")}`);
    const panel = page.getByRole("complementary", { name: "Entry" });
    const line = panel.locator(".cm-line[data-marked]").last();
    await line.waitFor();
    const colours = await line.locator("span").evaluateAll((all) => {
      // Declares the function of the browser, because TypeScript has no types of a browser in the tests.
      const { getComputedStyle } = globalThis as unknown as { getComputedStyle(of: unknown): { color: string } };
      return all.map((one) => getComputedStyle(one).color);
    });
    expect(new Set(colours).size).toBeGreaterThan(1);
    const [box, frame] = [await line.boundingBox(), await panel.boundingBox()];
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual((frame?.x ?? 0) + (frame?.width ?? 0));
    expect(await line.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
    await panel.locator(".cm-note").getByText("undefined_name").waitFor();
  });

  it("shows graph, timeline and entry one at a time on a phone", async () => {
    const id = await runToEnd("orders", { total: 9500 });
    const page = await app.open(`/runs/${id}`, { viewport: phone });
    await page.getByRole("alert").getByText("book failed").waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.getByRole("button", { name: /^book/ }).click();
    await page.locator("[data-marked]").first().waitFor();
  });
});
