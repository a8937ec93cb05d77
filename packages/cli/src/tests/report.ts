import { type ExactValue, RawJson, renderJson } from "@nova/engine";
import { exitCodes } from "../errors.ts";
import { differenceLines } from "../output/diff.ts";
import { type CommandOutput, styled } from "../output/terminal.ts";
import { untrustedLine } from "../output/text.ts";
import type { FirstDifference } from "./compare.ts";
import type { TestItem } from "./run-tests.ts";

/** The output for all tests. A stale test says nothing about the workflow, so it counts as a failure. */
export function testOutput(items: readonly TestItem[]): CommandOutput {
  const { passed, failed, stale } = countsOf(items);
  const shown = items.map(({ name, status, first_difference: found }) => ({
    name,
    status,
    first_difference: found && {
      place: found.place,
      message: found.message,
      keys: found.keys.map(({ key, was, is }) => ({ key, was: raw(was), is: raw(is) })),
    },
  }));
  return {
    json: renderJson({ passed, failed, stale, items: shown }),
    text: [...items.flatMap(itemLines), countLine(items)],
    code: failed + stale === 0 ? exitCodes.completed : exitCodes.failed,
  };
}

export function countsOf(items: readonly TestItem[]): Record<"passed" | "failed" | "stale", number> {
  const count = (...statuses: TestItem["status"][]) => items.filter(({ status }) => statuses.includes(status)).length;
  return { passed: count("passed", "updated"), failed: count("failed"), stale: count("stale") };
}

function raw(value: ExactValue | undefined): RawJson | null {
  return value === undefined ? null : new RawJson(JSON.stringify(value));
}

const colours = { passed: "green", updated: "cyan", failed: "red", stale: "yellow" } as const;

function itemLines({ name, status, first_difference: found }: TestItem): string[] {
  return [`${styled(colours[status], status.padEnd(7))} ${name}`, ...(found ? foundLines(found) : [])];
}

function foundLines({ message, keys }: FirstDifference): string[] {
  const text = (value: ExactValue | undefined) => (value === undefined ? null : JSON.stringify(value));
  return [
    `  ${untrustedLine(message, 400)}`,
    ...differenceLines(keys.map(({ key, was, is }) => ({ key, recorded: text(was), now: text(is) }))),
  ];
}

function countLine(items: readonly TestItem[]): string {
  const { passed, failed, stale } = countsOf(items);
  const parts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(stale > 0 ? [`${stale} stale`] : []),
  ];
  return styled(failed + stale === 0 ? "green" : "red", parts.join(", "));
}
