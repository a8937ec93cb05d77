import { sha256 } from "../src/bytes.ts";
import { parseHead, parseProof } from "../src/form.ts";
import { type Problem, type Verdict, verifyProof } from "../src/index.ts";
import { describeVerdict, listRemarks } from "../tools/describe.ts";

type Name = "proof" | "keys" | "tsaCa";

/**
 * The largest number of rows, because more rows would make the page slow. The page always shows the row of the entry
 * with the problem.
 */
const maxRows = 5000;

const form = document.querySelector("form") as HTMLFormElement;
const chain = document.querySelector("#chain") as HTMLElement;
const verdict = document.querySelector("#verdict") as HTMLElement;
const chosen: Partial<Record<Name, Uint8Array>> = {};
/**
 * The number of checks so far. With it, the page ignores the result of a slow check after a later check has started.
 */
let checks = 0;

form.addEventListener("change", async ({ target }) => {
  const input = target as HTMLInputElement;
  const [file] = input.files ?? [];
  if (file) await choose(input.name as Name, file);
});

for (const type of ["dragover", "dragleave", "drop"] as const)
  document.addEventListener(type, async (event) => {
    event.preventDefault();
    document.body.classList.toggle("over", type === "dragover");
    for (const file of type === "drop" ? Array.from(event.dataTransfer?.files ?? []) : [])
      await choose(await nameOf(file), file);
  });

/** Returns the kind of a dropped file. */
async function nameOf(file: File): Promise<Name> {
  const start = await file.slice(0, 200).text();
  if (start.includes("-----BEGIN CERTIFICATE-----")) return "tsaCa";
  return /^\s*\{\s*"keys"\s*:/.test(start) ? "keys" : "proof";
}

async function choose(name: Name, file: File): Promise<void> {
  const check = ++checks;
  chosen[name] = new Uint8Array(await file.arrayBuffer());
  const { proof, keys, tsaCa } = chosen;
  if (!proof) return show("", ["The file is there - now choose a proof."]);
  try {
    const found = await verifyProof(proof, { keys, tsaCa });
    const rows = await tablesOf(proof, found.problem);
    if (check === checks) show(found.state, [describeVerdict(found), ...listRemarks(found)], rows);
  } catch (error) {
    delete chosen[name];
    show("broken", [`The file ${file.name} cannot be used: ${(error as Error).message}.`]);
  }
}

function show(state: Verdict["state"] | "", sentences: string[], tables: HTMLElement[] = []): void {
  const [first = "", ...more] = sentences;
  verdict.className = state;
  verdict.replaceChildren(make("p", first), make("ul", ...more.map((sentence) => make("li", sentence))));
  chain.replaceChildren(...tables);
}

/** Makes an HTML element. The page shows texts from the file as plain text, and never interprets them as HTML. */
function make(name: string, ...inside: (string | Node)[]): HTMLElement {
  const element = document.createElement(name);
  element.append(...inside);
  return element;
}

/** Makes a table for each scope; none if the file is no proof. */
async function tablesOf(file: Uint8Array, problem: Problem | undefined): Promise<HTMLElement[]> {
  const tables: HTMLElement[] = [];
  let rows = 0;
  let hidden = 0;
  try {
    for (const { execution, scopes } of parseProof(file).runs) {
      for (const { scope, entries } of scopes) {
        const body = make("tbody");
        for (const [index, { head }] of entries.entries()) {
          const seq = index + (scope === "" ? 0 : 1);
          const isBad = problem?.execution === execution && problem.scope === scope && problem.seq === seq;
          if (++rows > maxRows && !isBad) hidden += 1;
          else body.append(...(await rowsOf(head, seq, isBad ? problem : undefined)));
        }
        const title = `${execution}${scope === "" ? "" : ` branch ${scope}`}`;
        const columns = ["Entry", "Node", "Status", "Time", "Hash"].map((column) => make("th", column));
        const table = make("table", make("caption", title), make("thead", make("tr", ...columns)), body);
        const around = make("div", table);
        around.className = "scroll";
        around.tabIndex = 0;
        if (body.childElementCount > 0) tables.push(around);
      }
    }
  } catch {
    return [];
  }
  return hidden > 0 ? [...tables, make("p", `${hidden} more entries were checked and are not shown.`)] : tables;
}

async function rowsOf(head: string, seq: number, problem: Problem | undefined): Promise<HTMLElement[]> {
  const row = make("tr", ...[String(seq), ...(await cellsOf(head))].map((text) => make("td", text)));
  if (!problem) return [row];
  const cell = make("td", problem.message) as HTMLTableCellElement;
  cell.colSpan = 5;
  const reason = make("tr", cell);
  row.className = "bad";
  reason.className = "bad";
  return [row, reason];
}

async function cellsOf(head: string): Promise<string[]> {
  const hash = await sha256(head);
  try {
    const { node_id, node_type, status, timestamp } = parseHead(head, false);
    return [node_type === node_id ? node_id : `${node_id} (${node_type})`, status, timestamp, hash.slice(0, 16)];
  } catch {
    return ["not readable", "", "", hash.slice(0, 16)];
  }
}
