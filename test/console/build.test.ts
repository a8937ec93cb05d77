import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildPage } from "@nova/console/build";
import { beforeAll, describe, expect, it } from "vitest";

let folder: string;
let page: string;

beforeAll(async () => {
  folder = await buildPage();
  page = await readFile(join(folder, "index.html"), "utf8");
}, 120_000);

/** Lists the files that a browser loads before the first page, including static imports. */
async function firstLoaded(): Promise<string[]> {
  const names = new Set<string>();
  const visit = async (name: string) => {
    if (names.has(name)) return;
    names.add(name);
    if (!name.endsWith(".js")) return;
    const text = await readFile(join(folder, "assets", name), "utf8");
    for (const [, other] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) await visit(other as string);
  };
  for (const [, name] of page.matchAll(/(?:src|href)="\/console\/assets\/([^"]+)"/g)) await visit(name as string);
  return Array.from(names);
}

describe("the built page of the console", () => {
  it("loads at most 200 kB of compressed files before it shows the first page", async () => {
    const names = (await firstLoaded()).filter((name) => /\.(js|css)$/.test(name));
    const sizes = await Promise.all(
      names.map(async (name) => gzipSync(await readFile(join(folder, "assets", name))).length),
    );
    const sum = sizes.reduce((all, size) => all + size, 0);
    expect(names.some((name) => name.endsWith(".js"))).toBe(true);
    expect(sum).toBeLessThanOrEqual(200_000);
  });

  it("loads the code editor, the graph and the previews of files only when they are needed", async () => {
    const loaded = (await firstLoaded()).join(" ");
    const all = (await readdir(join(folder, "assets"))).join(" ");
    for (const part of ["editor", "preview", "run-page", "layout.worker"]) {
      expect(all).toContain(`${part}-`);
      expect(loaded).not.toContain(`${part}-`);
    }
  });

  it("is a production build for every value of NODE_ENV", async () => {
    for (const name of (await firstLoaded()).filter((one) => one.endsWith(".js"))) {
      const text = await readFile(join(folder, "assets", name), "utf8");
      expect(text, name).not.toMatch(/jsxDEV|Warning: Each child in a list|react-dom-client\.development/);
    }
  });

  it("contains no inline script or style, which its Content-Security-Policy forbids", () => {
    expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|data:/i);
  });

  it("never evaluates texts as code or HTML", async () => {
    for (const name of (await readdir(join(folder, "assets"))).filter((one) => one.endsWith(".js"))) {
      const text = await readFile(join(folder, "assets", name), "utf8");
      expect(text, name).not.toMatch(/\bnew Function\(|[^.\w]eval\(/);
    }
    const sources = await readdir(join(folder, "../src"), { recursive: true });
    for (const name of sources.filter((one) => /\.tsx?$/.test(one))) {
      expect(await readFile(join(folder, "../src", name), "utf8"), name).not.toMatch(
        /innerHTML|outerHTML|document\.write/,
      );
    }
  });
});
