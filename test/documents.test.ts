import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const documents = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
const readme = readFileSync(join(root, "README.md"), "utf8");

it.each(documents)("the README lists docs/%s, and says what is in it", (name) => {
  expect(readme).toMatch(new RegExp(`^\\| \\[docs/${name}\\]\\(docs/${name}\\) \\| \\S.* \\|$`, "m"));
});

it.each(["README.md", ...documents.map((name) => `docs/${name}`)])("%s leads to files that are there", (file) => {
  const prose = readFileSync(join(root, file), "utf8").replaceAll(/^```.*?^```|`[^`\n]*`/gms, "");
  const links = prose.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g);
  const missing = Array.from(links, ([, link = ""]) => link).filter(
    (link) => !existsSync(join(root, dirname(file), link)),
  );
  expect(missing).toEqual([]);
});
