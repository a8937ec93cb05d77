import type { Session } from "@nova/client";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { isConflict } from "../../parts/states.tsx";
import { applyChange, changeInside, type Doc, readDoc, renderParts } from "./draft-doc.ts";

/** A change of the draft, or of the body of a map. */
interface Step {
  map: string | undefined;
  before: Doc;
  after: Doc;
}

type History = Readonly<Record<"past" | "future", readonly Step[]>>;

const maxTries = 4;

/** The functions that change, undo and redo the drawing of a draft. Each change is saved immediately. */
export type DraftEditing = ReturnType<typeof useDraft>;

/**
 * Saves changes of the draft, or of the body of a map, one after the other. If another user has changed the session
 * meanwhile, applies the change to the new state, so that both changes stay.
 */
export function useDraft(session: Session, map: string | undefined) {
  const { session_id: id } = session;
  const nova = useNova();
  const queries = useQueryClient();
  const [{ past, future }, setShown] = useState<History>({ past: [], future: [] });
  // An undo waits in the queue after earlier changes. It then reads the history, so that it knows these changes before
  // React has rendered them.
  const history = useRef<History>({ past, future });
  const [error, setError] = useState<unknown>();
  const queue = useRef(Promise.resolve());
  const save = useCallback(
    async (map: string | undefined, change: (doc: Doc) => Doc): Promise<Step | undefined> => {
      for (let tries = 1; ; tries++) {
        const now = queries.getQueryData<Session>(["session", id]) ?? (await nova.sessions.get(id));
        const whole = readDoc(now);
        let step: Step | undefined;
        const changed = changeInside(whole, map, (before) => {
          step = { map, before, after: change(before) };
          return step.after;
        });
        if (JSON.stringify(changed) === JSON.stringify(whole)) return undefined;
        try {
          const { revision } = now;
          queries.setQueryData(["session", id], await nova.sessions.change(id, renderParts(changed), { revision }));
          return step;
        } catch (cause) {
          if (!isConflict(cause) || tries >= maxTries) throw cause;
          queries.setQueryData(["session", id], await nova.sessions.get(id));
        }
      }
    },
    [nova, queries, id],
  );
  const record = useCallback((next: History) => {
    history.current = next;
    setShown(next);
  }, []);
  const enqueue = useCallback((work: () => Promise<void>): Promise<void> => {
    const done = queue.current.then(work);
    queue.current = done.then(
      () => setError(undefined),
      () => undefined,
    );
    return done;
  }, []);
  /** Saves a change. Rejects if the server refuses it. */
  const apply = useCallback(
    (change: (doc: Doc) => Doc) =>
      enqueue(async () => {
        const step = await save(map, change);
        if (step) record({ past: [...history.current.past, step], future: [] });
      }),
    [enqueue, save, record, map],
  );
  /** Moves the newest step from one list of the history to the other, and applies or reverts it. */
  const move = useCallback(
    (from: keyof History, to: keyof History) =>
      enqueue(async () => {
        const step = history.current[from].at(-1);
        if (!step) return;
        const [old, now] = from === "past" ? [step.after, step.before] : [step.before, step.after];
        await save(step.map, (doc) => applyChange(doc, old, now));
        const { [from]: left, [to]: grown } = history.current;
        record({ ...history.current, [from]: left.slice(0, -1), [to]: [...grown, step] });
      }).catch(setError),
    [enqueue, save, record],
  );
  /** Saves a change. If the server refuses it, `error` has the reason, as after `undo` and `redo`. */
  const draw = useCallback((change: (doc: Doc) => Doc) => apply(change).catch(setError), [apply]);
  return useMemo(
    () => ({
      apply,
      draw,
      undo: () => move("past", "future"),
      redo: () => move("future", "past"),
      canUndo: past.length > 0,
      canRedo: future.length > 0,
      error,
    }),
    [apply, draw, move, past, future, error],
  );
}
