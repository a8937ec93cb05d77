import { type HistoryEvent, inputAndEndOf } from "./history.ts";
import type { Execution, Executions } from "./store/executions.ts";
import type { LineOwner } from "./turns.ts";

/** Finds out to whom the work of an execution belongs. The work of a child belongs to the execution that started it. */
export class WorkOwners {
  readonly #executions: Executions;
  readonly #eventsOf: (execution: Execution) => readonly HistoryEvent[] | undefined;
  readonly #ownerOf: (input: string) => string;
  readonly #known = new WeakMap<Execution, LineOwner>();

  /**
   * `eventsOf` returns the events of an execution that is in memory. `ownerOf` returns the owner of an execution, given
   * its input. If `ownerOf` is absent, all executions have one owner.
   */
  constructor(
    executions: Executions,
    eventsOf: (execution: Execution) => readonly HistoryEvent[] | undefined,
    ownerOf: (input: string) => string = () => "",
  ) {
    this.#executions = executions;
    this.#eventsOf = eventsOf;
    this.#ownerOf = ownerOf;
  }

  of(execution: Execution): LineOwner {
    const known = this.#known.get(execution);
    if (known) return known;
    const parent = execution.startedBy && this.#executions.get(execution.startedBy.arn);
    const place = parent ? this.of(parent) : this.#ownPlace(execution);
    this.#known.set(execution, place);
    return place;
  }

  #ownPlace(execution: Execution): LineOwner {
    const { input = "" } = inputAndEndOf(this.#eventsOf(execution) ?? this.#executions.history(execution));
    return { owner: this.#ownerOf(input), work: execution.arn, since: execution.startedAt };
  }
}
