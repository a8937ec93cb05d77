// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { desk, findingsInEveryLook, hasBrowser, waitUntil, waitUntilLoaded } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

describe.skipIf(!hasBrowser)("the console", () => {
  const app = useConsole();

  it("shows the hashes and the signature of a run, and downloads the proof of the run with a verifier", async () => {
    const { execution_id: id } = await app.nova.executions.execute("waits", { context: { amount: "1 EUR" } });
    const [task] = await waitUntil(async () => {
      const tasks = await Array.fromAsync(app.nova.tasks.list());
      expect(tasks).toHaveLength(1);
      return tasks;
    });
    const page = await app.open(`/runs/${id}`);
    await page.getByRole("button", { name: "Proof", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Proof of the run" });
    await dialog.getByText("A proof file exists after the run has ended.").waitFor();
    expect(await dialog.getByRole("button", { name: "Download the proof" }).count()).toBe(0);
    await page.keyboard.press("Escape");

    await app.nova.tasks.answer(task?.task_id as string, { choice: "approved" });
    await page.locator(".run-top").getByText("Completed").waitFor();
    const entries = await Array.fromAsync(app.nova.executions.chain(id));
    await page.getByRole("button", { name: "Proof", exact: true }).click();
    await dialog.getByText("none yet; roots are made hourly").waitFor();
    const rows = dialog.getByRole("table").getByRole("row");
    expect(await rows.count()).toBe(entries.length + 1);
    for (const { hash } of entries) expect(await dialog.getByTitle(hash, { exact: true }).count()).toBeGreaterThan(0);
    await rows
      .filter({ hasText: "manager" })
      .getByText(/ answered$/)
      .waitFor();
    await waitUntilLoaded(page);
    expect(await findingsInEveryLook(page, "run-proof")).toEqual([]);
    await page.setViewportSize(desk);
    const downloading = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Download the proof" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`${id}.proof.json`);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const proof = JSON.parse(Buffer.concat(chunks).toString());
    expect(proof).toMatchObject({ kind: "nova-proof", execution: id, contents: "all" });
    await dialog.getByTitle(proof.runs[0].signature, { exact: true }).waitFor();

    const verifying = page.waitForEvent("download");
    await dialog.getByRole("link", { name: "Download the verifier" }).click();
    const file = `${await download.path()}.html`;
    await (await verifying).saveAs(file);
    const verifier = await page.context().newPage();
    await verifier.goto(pathToFileURL(file).href);
    await verifier.getByLabel("Proof").setInputFiles(await download.path());
    await verifier.getByRole("status").getByText(`${id} is valid`).waitFor();
  });

  it("names the person who restarted a run with other values", async () => {
    const { execution_id: id } = await app.nova.executions.run("orders", { context: { total: 9500 } });
    const { execution_id: again } = await app.nova.executions.restart(id, { context_patch: { total: 10 } });
    const page = await app.open(`/runs/${again}`);
    await page.locator(".run-top").getByText("Completed").waitFor();
    await page.getByRole("button", { name: "Proof", exact: true }).click();
    await page
      .getByRole("row")
      .getByText(/ replaced total$/)
      .waitFor();
  });

  it("shows the labels of a run, and filters the list of runs by a label", async () => {
    await app.nova.workflows.publish({
      id: "labelled",
      labels: { order: "{{number}}" },
      inputs: { type: "object", properties: { number: { type: "string" } } },
      nodes: [
        { id: "start", type: "start" },
        { id: "end", type: "end" },
      ],
      edges: [{ from: "start", to: "end" }],
    });
    for (const number of ["PO-10", "PO-11"]) await app.nova.executions.run("labelled", { context: { number } });
    const page = await app.open("/");
    await page.getByRole("link", { name: "order=PO-10", exact: true }).click();
    await waitUntil(async () =>
      expect(await page.getByRole("link", { name: "order=PO-11", exact: true }).count()).toBe(0),
    );
    expect(new URL(page.url()).searchParams.get("label")).toBe("order=PO-10");
    await page.getByRole("link", { name: "labelled" }).click();
    await page.locator(".run-facts").getByText("PO-10", { exact: true }).waitFor();
  });
});
