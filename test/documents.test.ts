import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

describe("the index of docs", () => {
  it.each(pages.filter((name) => name !== "README.md"))("says what %s contains", (name) => {
    expect(read("docs/README.md")).toMatch(new RegExp(`^\\| \\[${name}\\]\\(${name}\\) \\| \\S.* \\|$`, "m"));
  });
});

describe("the document", () => {
  const documents = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...pages.map((name) => `docs/${name}`)];

  it.each(documents)("%s links only to files that exist", (file) => {
    const prose = read(file).replaceAll(/^```.*?^```|`[^`\n]*`/gms, "");
    const links = Array.from(prose.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g), ([, link = ""]) => link);
    expect(links.filter((link) => !existsSync(join(root, dirname(file), link)))).toEqual([]);
  });
});

describe("the README", () => {
  it("has at most 160 lines", () => {
    expect(read("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(160);
  });
});

describe("npm test -w with the name of a package", () => {
  const packages = globSync(["packages/*/package.json", "functions/package.json"], { cwd: root });

  it.each(packages.map((file) => dirname(file)))("runs the tests of %s", (folder) => {
    const { scripts = {} } = JSON.parse(read(`${folder}/package.json`));
    const [, base = "", tests = ""] = /--root (\S+) .*? (test\/\S+)$/.exec(scripts.test) ?? [];
    expect(join(folder, base)).toBe(".");
    expect(existsSync(join(root, tests))).toBe(true);
  });
});
