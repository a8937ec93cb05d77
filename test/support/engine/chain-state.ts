import { isDeepStrictEqual } from "node:util";
import {
  type ChainNote,
  type ChainStore,
  type EntryId,
  type Link,
  type ScopeTip,
  type StoredEntry,
  type StoredStep,
  StoreUnavailable,
  type Turn,
} from "@nova/engine";
import type { Call, Caller } from "./scheduler.ts";

interface Place extends Link {
  scope: string;
  steps: Map<number, StoredStep>;
}

/** The states through which a turn goes, in order. */
const states: readonly Turn["state"][] = ["held", "failing", "closed"];

/** The chains in memory, with the same conditions on writes as in DynamoDB. Tests can change stored items directly. */
export class ChainState {
  readonly places = new Map<string, Place>();
  readonly notes = new Map<string, ChainNote[]>();
  /** For each process, the steps that its latest read has returned. */
  readonly stepsSeen = new WeakMap<Caller, StoredStep[]>();
  /** Called for every entry that is written. */
  onEntry: (at: EntryId, entry: StoredEntry) => void = () => undefined;

  at({ execution, scope, seq }: EntryId): Place {
    const key = `${execution}#${scope}#${seq}`;
    const place = this.places.get(key) ?? { scope, seq, steps: new Map() };
    this.places.set(key, place);
    return place;
  }

  /**
   * Returns the turns and entries of an execution in the order of their keys. If `only` names a scope, returns only
   * those of this scope.
   */
  linksOf(execution: string, only?: string): Place[] {
    return Array.from(this.places)
      .filter(([key, { turn, entry }]) => key.startsWith(`${execution}#`) && (turn || entry))
      .map(([, place]) => place)
      .filter(({ scope }) => only === undefined || scope === only)
      .sort((a, b) => (a.scope < b.scope ? -1 : a.scope > b.scope ? 1 : a.seq - b.seq));
  }

  entriesOf(execution: string): StoredEntry[] {
    return this.linksOf(execution).flatMap(({ scope, entry }) => (scope === "" && entry ? [entry] : []));
  }

  /** Returns all entries of an execution, scope by scope, branches included. */
  everyEntryOf(execution: string): StoredEntry[] {
    return this.linksOf(execution).flatMap(({ entry }) => (entry ? [entry] : []));
  }

  port(caller: Caller): ChainStore {
    const read = <T>(name: string, effect: () => T) => caller.call({ name, effect, outage });
    const put = (name: string, effect: () => boolean) => caller.call({ name, effect, outage, repeats: true });
    return {
      readTail: (at) =>
        read(`read ${at.seq}..`, () => {
          const { entry } = this.at(at);
          return { ...(entry && { here: entry }), next: linkOf(this.at({ ...at, seq: at.seq + 1 })) };
        }),
      tip: (execution, scope) => read("tip", () => this.#tip(execution, scope)),
      read: (at) => read(`read ${at.seq}`, () => linkOf(this.at(at))),
      putTurn: (at, turn, expected) =>
        put(`turn ${at.seq} ${turn.node} ${turn.state} ${turn.attempt}`, () => this.#putTurn(at, turn, expected)),
      putEntry: (at, entry) => put(`entry ${at.seq}`, () => this.#putEntry(at, entry)),
      putStep: (at, step) =>
        put(`step ${at.seq} ${step.step}`, () => {
          const { steps } = this.at(at);
          if (steps.has(step.step)) return false;
          steps.set(step.step, Object.freeze({ ...step }));
          return true;
        }),
      steps: (at) =>
        read(`steps ${at.seq}`, () => {
          const steps = Array.from(this.at(at).steps.values()).sort((a, b) => a.step - b.step);
          this.stepsSeen.set(caller, steps);
          return steps;
        }),
      putNote: (execution, note) =>
        put(`note ${note.kind}`, () => {
          const there = this.notes.get(execution) ?? [];
          const isTaken = (one: ChainNote) =>
            isDeepStrictEqual(one, note) || (note.kind === "root" && one.kind === "root");
          if (there.some(isTaken)) return false;
          this.notes.set(execution, [...there, note]);
          return true;
        }),
      notes: (execution) => read("notes", () => this.notes.get(execution) ?? []),
      rootNotes: (executions) =>
        read("root notes", () => {
          const of = (execution: string) =>
            (this.notes.get(execution) ?? []).flatMap((note) =>
              note.kind === "root" ? [[execution, note] as const] : [],
            );
          return new Map(executions.flatMap(of));
        }),
      links: (execution, scope, from = 0) => this.#pages({ execution, scope, seq: from }, caller),
      entries: (execution, tips) =>
        read("entries", () => {
          const upTo = ({ scope, seq: last }: ScopeTip) =>
            this.linksOf(execution, scope).flatMap(({ seq, entry }) => (entry && seq <= last ? [{ seq, entry }] : []));
          return new Map(tips.map((tip) => [tip.scope, upTo(tip)]));
        }),
      linksAt: (execution, places) =>
        read("links at", () => {
          const links = places.map(({ scope, seq }): [string, Link] => {
            const { turn, ...entry } = linkOf(this.at({ execution, scope, seq }));
            return [scope, entry.entry || !turn ? entry : { ...entry, turn }];
          });
          return new Map(links.filter(([, { turn, entry }]) => turn ?? entry));
        }),
    };
  }

  #putTurn(at: EntryId, turn: Turn, expected: Turn | null): boolean {
    const place = this.at(at);
    const there = place.turn;
    const asExpected = expected
      ? there?.state === expected.state && there.sandbox === expected.sandbox && there.attempt === expected.attempt
      : there === undefined;
    if (asExpected && there && states.indexOf(turn.state) < states.indexOf(there.state))
      throw new RangeError(`the turn at link ${at.seq} goes back from ${there.state} to ${turn.state}`);
    if (asExpected) place.turn = Object.freeze({ ...turn });
    return asExpected;
  }

  #putEntry(at: EntryId, entry: StoredEntry): boolean {
    const place = this.at(at);
    if (place.entry) return false;
    place.entry = Object.freeze({ ...entry });
    this.onEntry(at, entry);
    return true;
  }

  /**
   * Returns the last two items of a scope. Each turn and each entry is one item. The turn of an entry comes directly
   * before the entry.
   */
  #tip(execution: string, scope: string): Link[] {
    const places = this.linksOf(execution, scope);
    const items = places.flatMap(({ seq, turn, entry }): Link[] => [
      ...(turn ? [{ seq, turn }] : []),
      ...(entry ? [{ seq, entry }] : []),
    ]);
    const links = new Map<number, Link>();
    for (const item of items.slice(-2).reverse()) links.set(item.seq, { ...links.get(item.seq), ...item });
    return Array.from(links.values());
  }

  async *#pages({ execution, scope, seq: first }: EntryId, caller: Caller): AsyncIterable<Link> {
    const pageSize = 4;
    const links = () => this.linksOf(execution, scope).filter(({ seq }) => seq >= first);
    for (let from = 0; ; from += pageSize) {
      const call: Call<Place[]> = { name: "links", effect: links, outage };
      const page = (await caller.call(call)).slice(from, from + pageSize);
      for (const place of page) yield linkOf(place);
      if (page.length < pageSize) return;
    }
  }
}

function linkOf({ seq, turn, entry }: Link): Link {
  return { seq, ...(turn && { turn }), ...(entry && { entry }) };
}

function outage(): Error {
  return new StoreUnavailable("DynamoDB did not answer in time");
}
