import type { Ports } from "../ports/index.ts";

/** The text that the signer signs when the contents of an execution are erased on request. */
export function erasureText(execution: string): string {
  return `the contents of ${execution} were erased on request`;
}

/**
 * Knows which executions were erased on request, from the signed notes next to their chains. An attacker with access to
 * the table can remove a content, but cannot sign the note.
 */
export class Erasures {
  readonly #ports: Pick<Ports, "chain" | "signer">;
  readonly #known = new Map<string, Promise<boolean>>();

  constructor(ports: Pick<Ports, "chain" | "signer">) {
    this.#ports = ports;
  }

  has(execution: string): Promise<boolean> {
    const known = this.#known.get(execution) ?? this.#read(execution);
    this.#known.set(execution, known);
    return known;
  }

  async #read(execution: string): Promise<boolean> {
    const { chain, signer } = this.#ports;
    const note = (await chain.notes(execution)).find(({ kind }) => kind === "erased");
    return note?.kind === "erased" && (await signer.verify(erasureText(execution), note.signature));
  }
}
