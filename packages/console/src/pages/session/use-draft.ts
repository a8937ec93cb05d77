import { ApiProblem, type Session } from "@nova/client";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { applyChange, type Doc, readDoc, renderParts } from "./draft-doc.ts";

interface Step {
  before: Doc;
  after: Doc;
}

const maxTries = 4;

/** Changes of the drawing, which are saved at once and can be undone. */
export interface DraftEditing {
  apply(change: (doc: Doc) => Doc): Promise<void>;
  undo(): Promise<void>;
  redo(): Promise<void>;
  canUndo: boolean;
  canRedo: boolean;
  error: unknown;
}

/**
 * Saves changes of the drawing one after the other. If another user has changed the session meanwhile, the change is
 * applied to the new state, so that both changes stay.
 */
export function useDraft(session: Session): DraftEditing {
  const { session_id: id } = session;
  const nova = useNova();
  const queries = useQueryClient();
  const [past, setPast] = useState<readonly Step[]>([]);
  const [future, setFuture] = useState<readonly Step[]>([]);
  const [error, setError] = useState<unknown>();
  const queue = useRef(Promise.resolve());
  const save = useCallback(
    async (change: (doc: Doc) => Doc): Promise<Step | undefined> => {
      for (let tries = 1; ; tries++) {
        const now = queries.getQueryData<Session>(["session", id]) ?? (await nova.sessions.get(id));
        const before = readDoc(now);
        const after = change(before);
        if (JSON.stringify(after) === JSON.stringify(before)) return undefined;
        try {
          const { revision } = now;
          queries.setQueryData(["session", id], await nova.sessions.change(id, renderParts(after), { revision }));
          return { before, after };
        } catch (cause) {
          if (!(cause instanceof ApiProblem && cause.status === 409) || tries >= maxTries) throw cause;
          queries.setQueryData(["session", id], await nova.sessions.get(id));
        }
      }
    },
    [nova, queries, id],
  );
  const enqueue = useCallback((work: () => Promise<void>): Promise<void> => {
    queue.current = queue.current.then(async () => {
      try {
        await work();
        setError(undefined);
      } catch (cause) {
        setError(cause);
      }
    });
    return queue.current;
  }, []);
  const apply = useCallback(
    (change: (doc: Doc) => Doc) =>
      enqueue(async () => {
        const step = await save(change);
        if (!step) return;
        setPast((steps) => [...steps, step]);
        setFuture([]);
      }),
    [enqueue, save],
  );
  return useMemo(() => {
    const last = past.at(-1);
    const next = future.at(-1);
    return {
      apply,
      undo: () =>
        enqueue(async () => {
          if (!last) return;
          await save((doc) => applyChange(doc, last.after, last.before));
          setPast((steps) => steps.slice(0, -1));
          setFuture((steps) => [...steps, last]);
        }),
      redo: () =>
        enqueue(async () => {
          if (!next) return;
          await save((doc) => applyChange(doc, next.before, next.after));
          setFuture((steps) => steps.slice(0, -1));
          setPast((steps) => [...steps, next]);
        }),
      canUndo: last !== undefined,
      canRedo: next !== undefined,
      error,
    };
  }, [apply, enqueue, save, past, future, error]);
}
