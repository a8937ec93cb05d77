import { shellWord } from "@nova/workflow/shell-word";
import type { WaitingTask } from "../../ports/tasks.ts";

/** The command that answers a task; several choices stand for one of them. */
export function approveCommand(
  { execution, node, choices }: Pick<WaitingTask, "execution" | "node" | "choices">,
  offered: readonly string[] = choices,
): string {
  return `nova approve ${execution} ${node} --choice ${offered.map(shellWord).join("|")}`;
}
