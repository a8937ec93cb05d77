import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pageMark } from "../packages/mcp/src/pages.ts";

const root = join(import.meta.dirname, "..");
export const indexFile = join(root, "packages/mcp/llms.txt");
export const fullFile = join(root, "packages/mcp/llms-full.txt");

const source = "docs/README.md";

/** Pages that are not for people who use NOVA. */
const skipped = new Set(["differences.md", "glossary.md", "dependencies.md"]);

interface Listed {
  section: string;
  file: string;
  contents: string;
}

/** Lists the pages of docs/README.md by task. */
function listPages(index: string): Listed[] {
  let section = "";
  return index.split("\n").flatMap((line) => {
    section = /^\*\*(.+)\*\*$/.exec(line)?.[1] ?? section;
    const [, file = "", contents = ""] = /^\| \[([\w-]+\.md)\]\([\w-]+\.md\) \| (.+) \|$/.exec(line) ?? [];
    return file === "" || skipped.has(file) ? [] : [{ section, file, contents }];
  });
}

/** Builds both files for language models (llmstxt.org): the index of the documentation, and all of its pages. */
export function buildLlms(read = (path: string) => readFileSync(join(root, path), "utf8")): {
  index: string;
  full: string;
} {
  const pages = listPages(read(source));
  const sections = Object.entries(Object.groupBy(pages, ({ section }) => section)).map(([section, listed = []]) => {
    const lines = listed.map(({ file, contents }) => `- [${file}](docs/${file}): ${contents}`);
    return [`## ${section}`, "", ...lines].join("\n");
  });
  const intro = [
    "# NOVA",
    "",
    "> NOVA runs business processes that are partly Python and partly AI, and proves every step afterwards. A workflow is a folder with a workflow.json and the Python of its nodes.",
    "",
    "Start: `nova init my-flow --template invoice`, `nova run my-flow --context my-flow/input.json`. Agents: `nova mcp` (stdio) or `POST /mcp` of the API. All pages in one file: `/llms-full.txt` of the API, or packages/mcp/llms-full.txt, which `npm ci` writes.",
  ];
  const index = `${[intro.join("\n"), ...sections].join("\n\n")}\n`;
  const texts = pages.map(({ file }) => `${pageMark(`docs/${file}`)}\n${read(`docs/${file}`).trim()}\n`);
  return { index, full: `${["# NOVA: all pages of the documentation\n", ...texts].join("\n")}` };
}

if (import.meta.main) {
  const { index, full } = buildLlms();
  writeFileSync(indexFile, index);
  writeFileSync(fullFile, full);
}
