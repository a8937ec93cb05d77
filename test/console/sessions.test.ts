// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { findingsInEveryLook, findingsOf, hasBrowser, picture, waitUntil } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

describe.skipIf(!hasBrowser)("the console", () => {
  const app = useConsole();
  let id = "";

  const card = (page: Page, name: string) => page.locator(".react-flow__node").filter({ hasText: name });
  const panel = (page: Page) => page.getByRole("complementary");
  const state = (page: Page, name: string) => card(page, name).locator(".node").getAttribute("data-state");
  const states = async (page: Page) => {
    const nodes = ["read", "check_sender", "check_amount", "is_large", "tell", "book"];
    return Object.fromEntries(await Promise.all(nodes.map(async (one) => [one, await state(page, one)])));
  };
  const editor = (page: Page) => page.locator(".cm-content");
  async function write(page: Page, code: string): Promise<void> {
    await editor(page).click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(code);
  }
  const all = (one: string) => ({ read: one, check_sender: one, check_amount: one, is_large: one, book: one });

  it("lets a user create a session from a workflow, edit a node, run stale nodes, and publish the draft", async () => {
    const page = await app.open("/sessions");
    await page.getByText("No sessions yet").waitFor();
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "New workflow" }).click();
    await dialog.getByRole("radio", { name: "A copy" }).check();
    await dialog.getByLabel("Workflow", { exact: true }).selectOption("orders");
    await dialog.getByLabel("Name").fill("Larger orders");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "Larger orders" }).waitFor();
    await page.getByRole("button", { name: "Sample input" }).click();
    await dialog.getByLabel("Context as a JSON object").fill('{"total": 250.0, "sender": "x"}');
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    id = page.url().split("/").at(-1) ?? "";
    expect(id).toMatch(/^ses_[0-9A-Z]{26}$/);
    await waitUntil(async () => expect(await states(page)).toMatchObject(all("stale")));

    await page.getByRole("button", { name: "Run stale nodes" }).click();
    await page.getByText("Ran read, check_sender, check_amount, is_large").waitFor();
    await waitUntil(async () => expect(await states(page)).toEqual({ ...all("fresh"), tell: "skipped" }));
    // The page must show the digits that Python wrote.
    await waitUntil(async () =>
      expect(await card(page, "read").textContent()).toContain("[850.0,12345678901234567890]"),
    );

    await card(page, "check_amount").click();
    await write(page, "context['amount'] = 'large'\nprint('changed')");
    await panel(page).getByText("No findings").waitFor();
    await waitUntil(async () =>
      expect(await states(page)).toMatchObject({
        read: "fresh",
        check_sender: "fresh",
        check_amount: "stale",
        book: "stale",
      }),
    );
    await page.getByRole("button", { name: "Run stale nodes" }).click();
    await page.getByText(/Ran check_amount, .*Reused: .*read/).waitFor();
    await waitUntil(async () => expect(await states(page)).toEqual({ ...all("fresh"), tell: "skipped" }));
    await waitUntil(async () => expect(await card(page, "check_amount").textContent()).toContain("large"));
    expect(await card(page, "check_amount").textContent()).not.toContain("fine");

    expect(await page.getByText(/Ran check_amount/).textContent()).not.toContain("tell");

    await page.getByRole("button", { name: "Publish" }).click();
    expect(await dialog.getByLabel("Workflow").inputValue()).toBe("orders");
    await dialog.getByRole("button", { name: "Publish" }).click();
    await dialog.getByText("Version 2 of orders is ready.").waitFor();
    const { definition } = await app.nova.workflows.get("orders", { version: 2 });
    expect(JSON.stringify(definition)).toContain("print('changed')");
  });

  it("lets a user edit the output of a node, and run one node", async () => {
    const page = await app.open(`/sessions/${id}?node=check_amount`);
    await panel(page).getByRole("button", { name: "Edit output" }).click();
    await panel(page).getByLabel("Text of amount").fill("12345678901234567890");
    await panel(page).getByRole("button", { name: "Save the output" }).click();
    await panel(page).getByText("edited by").waitFor();
    await waitUntil(async () => expect(await states(page)).toMatchObject({ check_amount: "fresh", book: "stale" }));
    const { outputs } = await app.nova.sessions.outputs(id, ["check_amount"]);
    expect(outputs).toMatchObject([{ output: { amount: "12345678901234567890" } }]);

    await card(page, "read").click();
    await panel(page).getByRole("button", { name: "Run this node" }).click();
    await page.getByText("Ran read.").waitFor();
    await page.getByRole("link", { name: "Open the run" }).click();
    await page.waitForURL(/\/console\/runs\/exec_/);
  });

  it("shows a concurrent change of a node and its author, and keeps unsaved input until the user decides", async () => {
    const page = await app.open(`/sessions/${id}?node=tell`);
    await editor(page).waitFor();
    let isFirst = true;
    await page.route("**/sessions/*/nodes/tell?*", async (route) => {
      if (isFirst) await app.nova.sessions.changeNode(id, "tell", { code: "context['told'] = 'theirs'" });
      isFirst = false;
      await route.continue();
    });
    await write(page, "context['told'] = 'mine'");
    await panel(page)
      .getByRole("alert")
      .getByText(/node "tell" was changed: code, by/)
      .waitFor();
    expect(await editor(page).textContent()).toBe("context['told'] = 'mine'");
    await picture(page, "session-conflict-light-desk");
    expect(await findingsOf(page)).toEqual([]);
    await panel(page).getByRole("button", { name: "Keep my text" }).click();
    await waitUntil(async () => {
      const { nodes } = await app.nova.sessions.get(id);
      expect(nodes.find(({ node_id }) => node_id === "tell")?.definition).toMatchObject({
        code: "context['told'] = 'mine'",
      });
    });
  });

  it("lets a user add nodes and edges to an empty draft, and delete nodes, edges and the session", async () => {
    const session = await app.nova.sessions.create({ name: "From <b>nothing</b>\u202e" });
    const page = await app.open(`/sessions/${session.session_id}`);
    await page.getByText("The draft has no nodes yet").waitFor();
    const dialog = page.getByRole("dialog");
    const add = async (node: string, after: string) => {
      await page.keyboard.press("a");
      await dialog.getByLabel("Name").fill(node);
      await dialog.getByLabel("After").selectOption(after);
      await dialog.getByRole("button", { name: "Add a node" }).click();
      await panel(page).getByRole("heading", { name: node }).waitFor();
    };
    await add("first", "");
    await add("second", "first");
    await panel(page).getByText("comes after first").waitFor();
    await panel(page).getByRole("button", { name: "Delete the edge from first to second" }).click();
    await panel(page).getByText("It has no edges.").waitFor();
    await page.keyboard.press("u");
    await panel(page).getByText("comes after first").waitFor();
    await page.keyboard.press("U");
    await panel(page).getByText("It has no edges.").waitFor();
    await page.getByRole("button", { name: "Add an edge" }).click();
    await dialog.getByLabel("From").selectOption("second");
    await dialog.getByLabel("To").selectOption("first");
    await dialog.getByRole("button", { name: "Add an edge" }).click();
    await panel(page).getByText("leads to first").waitFor();
    await page.keyboard.press("u");
    await panel(page).getByText("It has no edges.").waitFor();
    await panel(page).getByRole("button", { name: "Delete the node" }).click();
    await dialog.getByRole("button", { name: "Delete the node" }).click();
    await waitUntil(async () => expect(await card(page, "second").count()).toBe(0));

    await page.getByRole("button", { name: /^Delete the session From/ }).click();
    await dialog.getByText("Delete the session From <b>nothing</b>U+202E?").waitFor();
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    await waitUntil(async () => expect(await page.getByRole("row").count()).toBe(2));
  });

  it("shows another user's change of a field, and keeps the user's own changes of other fields", async () => {
    const nodes = [{ id: "pause", type: "wait", seconds: 5, name: "Pause" }];
    const { session_id } = await app.nova.sessions.create({ name: "Shared", nodes });
    const page = await app.open(`/sessions/${session_id}?node=pause`);
    const field = (name: string) => panel(page).getByRole("textbox", { name });
    await field("seconds").fill("-5");
    await panel(page).locator("[id$=-trouble]").getByText("seconds must be").waitFor();
    await field("seconds").fill("soon");
    await panel(page).getByText("Not saved: a value is not valid").waitFor();
    await app.nova.sessions.changeNode(session_id, "pause", { seconds: 7 });
    await field("description").fill("mine");
    await waitUntil(async () => expect(await field("seconds").inputValue()).toBe("7"));
    await waitUntil(async () => {
      const [node] = (await app.nova.sessions.get(session_id)).nodes;
      expect(node?.definition).toEqual({ ...nodes[0], seconds: 7, description: "mine" });
    });
  });

  it("lets a user add nodes of all kinds, one after another", async () => {
    const { session_id } = await app.nova.sessions.create({ name: "Kinds" });
    const page = await app.open(`/sessions/${session_id}`);
    await page.getByText("The draft has no nodes yet").waitFor();
    const dialog = page.getByRole("dialog");
    const kinds = ["approval", "code", "decision", "text", "prompt", "agent", "map", "wait", "workflow"];
    for (const kind of kinds) {
      await page.keyboard.press("a");
      await dialog.getByLabel("Name").fill(kind);
      await dialog.getByLabel("Kind").selectOption(kind);
      if (kind === "workflow") await dialog.getByRole("combobox", { name: "Workflow" }).selectOption("orders");
      await dialog.getByRole("button", { name: "Add a node" }).click();
      await panel(page).getByRole("heading", { name: kind, exact: true }).waitFor();
      await panel(page).getByRole("heading", { name: "Definition" }).waitFor();
    }
    const { nodes, beside } = await app.nova.sessions.get(session_id);
    expect([nodes.map(({ node_id }) => node_id).sort(), beside]).toMatchObject([
      kinds.sort(),
      [{ node_id: "agent_tool" }],
    ]);
  });

  it("lets a user edit the tools of an agent, and keeps the tools in every change of the drawing", async () => {
    const agent = { id: "answer", type: "action", executor: "agent", prompt: "Answer", tools: ["find"] };
    const nodes = [agent, { id: "find", type: "action", code: "pass" }];
    const { session_id } = await app.nova.sessions.create({ name: "Tools", nodes });
    const idsOf = (all: readonly { node_id: string }[]) => all.map(({ node_id }) => node_id);
    const read = async () => {
      const { nodes, beside } = await app.nova.sessions.get(session_id);
      return { steps: idsOf(nodes), tools: idsOf(beside), find: beside[0]?.definition };
    };
    const page = await app.open(`/sessions/${session_id}?node=answer`);
    await panel(page).getByRole("button", { name: "find" }).click();
    await panel(page).getByRole("heading", { name: "find" }).waitFor();
    await panel(page)
      .getByRole("group", { name: /^approve / })
      .waitFor();
    await panel(page)
      .getByRole("group", { name: /^input_schema / })
      .first()
      .waitFor();
    await panel(page).getByRole("textbox", { name: "description" }).fill("Finds an order");
    await waitUntil(async () => expect((await read()).find).toMatchObject({ description: "Finds an order" }));
    await card(page, "answer").click();
    await panel(page).getByRole("button", { name: "Add a tool" }).click();
    await panel(page).getByRole("heading", { name: "answer_tool" }).waitFor();
    await page.keyboard.press("a");
    await page.getByRole("dialog").getByLabel("Name").fill("next");
    await page.getByRole("dialog").getByRole("button", { name: "Add a node" }).click();
    await waitUntil(async () =>
      expect(await read()).toMatchObject({ steps: ["answer", "next"], tools: ["find", "answer_tool"] }),
    );
    await card(page, "answer").click();
    await panel(page).getByRole("button", { name: "find" }).click();
    await panel(page).getByRole("button", { name: "Delete the node" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete the node" }).click();
    await waitUntil(async () => expect((await read()).tools).toEqual(["answer_tool"]));
  });

  it("marks the nodes of a draft that have findings, until the findings are gone", async () => {
    const nodes = [
      { id: "good", type: "action", code: "pass" },
      { id: "bad", type: "action", code: "context['x'] = (" },
    ];
    const { session_id } = await app.nova.sessions.create({ name: "Findings", nodes });
    const page = await app.open(`/sessions/${session_id}?node=bad`);
    await card(page, "bad").getByText("1 finding").waitFor();
    expect(await card(page, "good").textContent()).not.toContain("finding");
    await write(page, "context['x'] = 1");
    await card(page, "bad").getByText("1 finding").waitFor({ state: "hidden" });
  });

  it("shows the fields of another executor as soon as the user chooses this executor", async () => {
    const nodes = [{ id: "answer", type: "action", executor: "code", code: "pass" }];
    const { session_id } = await app.nova.sessions.create({ name: "Kinds", nodes });
    const page = await app.open(`/sessions/${session_id}?node=answer`);
    await panel(page).getByRole("combobox", { name: "executor" }).selectOption("text");
    await panel(page).getByRole("textbox", { name: "system" }).fill("Be short.");
    await panel(page).getByRole("textbox", { name: "Prompt" }).waitFor();
    await waitUntil(async () => {
      const [node] = (await app.nova.sessions.get(session_id)).nodes;
      const changed = { id: "answer", type: "action", executor: "text", prompt: "", system: "Be short." };
      expect(node?.definition).toEqual(changed);
    });
  });

  describe("conforms to WCAG", () => {
    beforeAll(async () => {
      if (hasBrowser) await app.nova.sessions.changeNode(id, "check_sender", { description: "x" });
    });

    it.each([
      ["sessions", () => "/sessions", ["Larger orders"]],
      ["session", () => `/sessions/${id}`, ["Last changes", "is_large"]],
      ["session-node", () => `/sessions/${id}?node=check_amount`, ["Edges", "is_large"]],
    ])(
      "in light and dark mode, at three screen widths: %s",
      async (name, path, texts) => {
        const page = await app.open(path());
        for (const text of texts) await page.getByText(text).filter({ visible: true }).first().waitFor();
        expect(await findingsInEveryLook(page, name)).toEqual([]);
      },
      120_000,
    );
  });
});
