import { countsOf } from "./report.ts";
import type { TestItem } from "./run-tests.ts";

/** Writes test results as JUnit XML, which CI servers read. */
export function junitText(workflow: string, items: readonly TestItem[]): string {
  const { failed, stale } = countsOf(items);
  const seconds = (ms: number) => (ms / 1000).toFixed(3);
  const time = seconds(items.reduce((sum, { ms }) => sum + ms, 0));
  const suite = `name=${quoted(workflow)} tests="${items.length}" failures="${failed + stale}" errors="0" time="${time}"`;
  const cases = items.flatMap(({ name, status, first_difference: found, ms }) => {
    const open = `    <testcase classname=${quoted(workflow)} name=${quoted(name)} time="${seconds(ms)}"`;
    if (!found) return [`${open}/>`];
    const keys = found.keys.map(({ key, was, is }) => `${key}\n- ${textOf(was)}\n+ ${textOf(is)}`);
    const failure = `<failure type="${status}" message=${quoted(found.message)}>${escaped(keys.join("\n"))}</failure>`;
    return [`${open}>`, `      ${failure}`, "    </testcase>"];
  });
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    "<testsuites>",
    `  <testsuite ${suite}>`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function textOf(value: unknown): string {
  return value === undefined ? "(not set)" : JSON.stringify(value);
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll("\n", "&#10;")}"`;
}

/** XML 1.0 cannot contain most control characters. */
function escaped(text: string): string {
  const marks: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML does not allow these
      .replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd")
      .replaceAll(/[&<>"]/g, (mark) => marks[mark] ?? mark)
  );
}
