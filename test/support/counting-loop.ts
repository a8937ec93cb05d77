/**
 * Builds a workflow with a loop. `code` is the code of the decision that ends the loop. By default the loop ends when
 * `n` is `wanted`.
 */
export function countingLoop(id: string, code = "context['branch_decision'] = context['n'] < context['wanted']") {
  return {
    id,
    nodes: [
      { id: "start", type: "start" },
      { id: "up", type: "action", code: "context['n'] = context.get('n', 0) + 1" },
      { id: "there", type: "decision", code },
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "up" },
      { from: "up", to: "there" },
      { from: "there", to: "up", condition: true, max: 1000 },
      { from: "there", to: "end", condition: false },
    ],
  };
}

/** Returns the nodes that a run of `countingLoop` visits with this number of rounds. */
export function countingPath(rounds: number): string[] {
  return ["start", ...Array.from({ length: rounds }, () => ["up", "there"]).flat(), "end"];
}
