// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { hasBrowser } from "./support/browser.ts";
import { useConsole } from "./support/use-console.ts";

/** Hostile texts. Each has a visible effect unless the page treats it as plain text. */
const bombs = {
  image: `<img src=x onerror="document.title='taken'">`,
  script: "</script><script>document.title='taken'</script>",
  link: "javascript:document.title='taken'",
  markdown: "[click](javascript:document.title='taken') ![x](x \"onerror=document.title='taken'\")",
  svg: `<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='taken'"><script>document.title='taken'</script></svg>`,
  bidi: "invoice\u202Efdp.exe",
  hidden: "pay\u200Bpal",
  template: "{{constructor.constructor('document.title=`taken`')()}}",
  prototype: '{"__proto__": {"taken": true}}',
};

const code = `
for name in list(context['bombs']):
    print(name, context['bombs'][name])
context['<img src=x onerror=document.title="taken">'] = 1
context['__proto__'] = {'taken': True}
context['svg'] = context['bombs']['svg'].encode()
context['page'] = ('<!doctype html>' + context['bombs']['script'] * 2000).encode()
context['table'] = ('a,b\\nc,d\\n' + '=1+1,' + context['bombs']['image'].replace(',', '') + '\\n').encode()
raise ValueError(context['bombs']['image'] + context['bombs']['bidi'])
`;

describe.skipIf(!hasBrowser)("untrusted texts in the console", () => {
  const app = useConsole();
  let id: string;

  beforeAll(async () => {
    if (!hasBrowser) return;
    const workflow = {
      id: "hostile",
      name: bombs.image,
      nodes: [
        { id: "start", type: "start" },
        {
          id: "make",
          type: "action",
          name: bombs.image,
          description: bombs.script,
          code: code.replace(/raise.*\n$/, "\n"),
        },
        { id: "fail", type: "action", name: bombs.bidi, code },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "make" },
        { from: "make", to: "fail" },
        { from: "fail", to: "end" },
      ],
    };
    await app.nova.workflows.publish(workflow);
    id = (await app.nova.executions.run("hostile", { context: { bombs } })).execution_id;
  });

  async function expectUntaken(page: Page): Promise<void> {
    expect(await page.title()).toMatch(/NOVA$/);
    expect(await page.evaluate("({}).taken")).toBeUndefined();
    expect(await page.locator("a[href^='javascript:' i], img[src='x'], main script").count()).toBe(0);
  }

  it("appear as plain text in the list of runs, and do not reverse the letters around them", async () => {
    const page = await app.open("/");
    const row = page.getByRole("row").filter({ has: page.getByLabel(`Select run ${id}`) });
    // Both the name of the workflow and the error of the run contain hostile texts.
    await row.getByRole("link").getByText("onerror").waitFor();
    await row.getByText("U+202E").first().waitFor();
    await expectUntaken(page);
  });

  it.each(["Code", "Input", "Output", "Diff", "Logs", "Proof"])(
    "appear as plain text in the tab %s of an entry",
    async (tab) => {
      for (const node of ["make", "fail"]) {
        const page = await app.open(`/runs/${id}?node=${node}`);
        const panel = page.getByRole("complementary", { name: "Entry" });
        await panel.getByRole("tab", { name: tab }).click();
        // Opens all folded parts of the panel. Each click opens the first folded part, so the next folded part becomes
        // the first one.
        const closed = panel.locator("[aria-expanded=false]");
        for (let left = await closed.count(); left > 0; left--)
          await closed
            .first()
            .click({ timeout: 2_000 })
            .catch(() => undefined);
        await expectUntaken(page);
        if (tab === "Logs") await panel.getByText("U+202E").first().waitFor();
      }
    },
  );

  it.each(["svg", "page", "table"])(
    "run no script if the preview of their blob shows an image, code or a table: %s",
    async (key) => {
      const page = await app.open(`/runs/${id}?node=make`);
      const panel = page.getByRole("complementary", { name: "Entry" });
      await panel.getByRole("tab", { name: "Diff" }).click();
      const blob = panel.locator(".blob", { hasText: key }).first();
      await blob.getByRole("button", { name: "Show" }).click();
      const seen = { svg: "img.preview-picture", page: ".code-lines", table: "table td" }[key] as string;
      await blob.locator(seen).first().waitFor();
      await expectUntaken(page);
    },
  );

  it.each([
    "?status=<img src=x onerror=document.title='taken'>",
    "?workflow=javascript:alert(1)",
    "?text=%3Cimg%20src=x%3E",
  ])("are ordinary filters if they are in the URL of the list of runs: %s", async (query) => {
    const page = await app.open(`/${query}`);
    await page.getByRole("search").waitFor();
    await expectUntaken(page);
  });
});
