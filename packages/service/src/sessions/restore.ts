import { isDeepStrictEqual } from "node:util";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { NodeRecord, Session, SessionState } from "../ports/sessions.ts";
import { changeSession } from "./record.ts";

/**
 * Undoes the changes of a failed run in a session, except where another request has changed the session again. The
 * version of a node still grows, so a reader never mistakes another state for the one in between.
 */
export async function restoreSession(
  ports: ServicePorts,
  by: Principal,
  { session, before }: { session: Session; before: SessionState },
): Promise<void> {
  const { state: after } = session;
  const execution = after.family?.last ?? "";
  const hasRun = (await ports.executions.get(execution)) !== undefined;
  await changeSession(ports, by, session.id, ({ state }) => {
    const isMine = isDeepStrictEqual(state.draft, after.draft);
    const nodes = Object.entries(state.nodes).map(([id, record]): [string, NodeRecord] => {
      const earlier = before.nodes[id];
      const isTouched = !isDeepStrictEqual(earlier, after.nodes[id]) && isDeepStrictEqual(record, after.nodes[id]);
      return [id, isMine && earlier && isTouched ? { ...earlier, version: record.version + 1 } : record];
    });
    const runs = state.runs.filter((run) => run.execution !== execution);
    return {
      state: {
        ...state,
        ...(!hasRun && before.family && { family: before.family }),
        runs,
        nodes: Object.fromEntries(nodes),
        draft: isMine ? before.draft : state.draft,
        context: state.context === after.context ? before.context : state.context,
      },
      what: `${execution} failed, and NOVA took its changes back`,
      answer: undefined,
    };
  });
}
