import { LineFile } from "../../disk/line-file.ts";
import type { JsonObject } from "../../json.ts";
import type { StateMachine } from "../asl/state.ts";

/**
 * The settings of a state machine with which an execution runs. A revision never changes: an update of the state
 * machine creates another one.
 */
export interface Revision {
  /** A number that no other revision of this data folder has. Executions refer to it. */
  number: number;
  /** Absent for the first revision of a state machine, as in AWS. */
  id?: string;
  definition: string;
  roleArn: string;
  logging: JsonObject;
  tracing: JsonObject;
  at: number;
}

export interface Version {
  number: number;
  revision: Revision;
  description?: string;
  at: number;
}

export interface Machine {
  name: string;
  at: number;
  revision: Revision;
  /** Versions by number, the oldest first. */
  versions: Map<number, Version>;
  /** The highest number that a version has had. The number of a deleted version is not used again. */
  lastVersion: number;
}

type Change =
  | { do: "create"; name: string; at: number; revision: Revision }
  | { do: "update"; name: string; revision: Revision }
  | { do: "publish"; name: string; at: number; description?: string }
  | { do: "unpublish"; name: string; version: number }
  | { do: "delete"; name: string };

/**
 * The state machines of a data folder. Each change is one line of a file, and opening the file applies all changes
 * again. Lines about tags, which old versions wrote, are ignored.
 */
export class Machines {
  readonly #file: LineFile<Change>;
  readonly #byName = new Map<string, Machine>();
  readonly #revisions: Revision[] = [];
  readonly #compiled = new WeakMap<Revision, StateMachine>();

  constructor(path: string) {
    const { file, lines } = LineFile.open<Change>(path);
    this.#file = file;
    for (const change of lines) this.#apply(change);
  }

  get(name: string): Machine | undefined {
    return this.#byName.get(name);
  }

  all(): Machine[] {
    return [...this.#byName.values()];
  }

  /** Returns a revision by its number, even of a deleted state machine: clients can still read its executions. */
  revision(number: number): Revision {
    return this.#revisions[number] as Revision;
  }

  create(name: string, content: Omit<Revision, "number">): Machine {
    this.#change({ do: "create", name, at: content.at, revision: this.#number(content) });
    return this.#byName.get(name) as Machine;
  }

  update(name: string, content: Omit<Revision, "number">): void {
    this.#change({ do: "update", name, revision: this.#number(content) });
  }

  publish(name: string, at: number, description: string | undefined): void {
    this.#change({ do: "publish", name, at, ...(description === undefined ? {} : { description }) });
  }

  unpublish(name: string, version: number): void {
    this.#change({ do: "unpublish", name, version });
  }

  delete(name: string): void {
    this.#change({ do: "delete", name });
  }

  /** Compiles each revision once, when it first runs. */
  compiled(revision: Revision, compile: (definition: string) => StateMachine): StateMachine {
    const machine = this.#compiled.get(revision) ?? compile(revision.definition);
    this.#compiled.set(revision, machine);
    return machine;
  }

  close(): void {
    this.#file.close();
  }

  #number(content: Omit<Revision, "number">): Revision {
    return { ...content, number: this.#revisions.length };
  }

  #change(change: Change): void {
    this.#file.append(change);
    this.#apply(change);
  }

  #apply(change: Change): void {
    if (change.do === "create") {
      const { name, at, revision } = change;
      this.#byName.set(name, { name, at, revision, versions: new Map(), lastVersion: 0 });
    }
    if (change.do === "create" || change.do === "update") this.#revisions[change.revision.number] = change.revision;
    if (change.do === "delete") this.#byName.delete(change.name);
    const machine = this.#byName.get(change.name);
    if (machine) applyTo(machine, change);
  }
}

function applyTo(machine: Machine, change: Change): void {
  if (change.do === "update") machine.revision = change.revision;
  if (change.do === "unpublish") machine.versions.delete(change.version);
  if (change.do !== "publish") return;
  const { at, description } = change;
  const number = ++machine.lastVersion;
  const version = { number, revision: machine.revision, at, ...(description === undefined ? {} : { description }) };
  machine.versions.set(number, version);
}
