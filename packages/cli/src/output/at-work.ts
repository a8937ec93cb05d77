import { type AtWork, type NodeAtWork, renderJson } from "@nova/engine";
import { attemptLine } from "./attempts.ts";
import { styled } from "./terminal.ts";
import { cell, duration } from "./text.ts";

/** Shows the open nodes of a run, one line each. */
export function atWorkLines({ count, nodes, maps }: AtWork, nowMs: number): string[] {
  const more = count - nodes.length;
  return [
    ...maps.map(({ node_id, items, done, failed }) => {
      const bad = failed > 0 ? `, ${failed} failed` : "";
      return `${styled("cyan", "map")} ${node_id} ${done}/${items} items done${bad}`;
    }),
    ...nodes.flatMap((node) => [
      nodeLine(node, nowMs),
      ...(node.attempts ?? []).map((step) => `  ${attemptLine(step)}`),
    ]),
    ...(more > 0 ? [styled("dim", `and ${more} more`)] : []),
  ];
}

function nodeLine({ node_id, scope, attempt, since, waits_for }: NodeAtWork, nowMs: number): string {
  const place = scope === "" ? "" : styled("dim", ` in ${scope}`);
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  const time = `since ${since} (${duration(Math.max(0, nowMs - Date.parse(since)))})`;
  const what = waits_for ? styled("yellow", "waits") : styled("cyan", "working");
  return `${what} ${styled("bold", node_id)}${place} ${time}${again}${waits_for ? waitText(waits_for) : ""}`;
}

function waitText(wait: NonNullable<NodeAtWork["waits_for"]>): string {
  const until = wait.until === null ? "" : ` until ${wait.until}`;
  if (wait.kind === "time") return until;
  if (wait.kind === "workflow") return ` for ${wait.execution_id}`;
  if (wait.kind === "retry") return ` for its next attempt${until}`;
  if (wait.kind === "event") return ` for an event like ${cell(renderJson(wait.pattern))}${until}`;
  return ` for ${wait.choices.join(" or ")}${until}: ${cell(wait.message)}`;
}
