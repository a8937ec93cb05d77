import { isDeepStrictEqual } from "node:util";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { NodeRecord, Session, SessionState } from "../ports/sessions.ts";
import { changing } from "./record.ts";

/**
 * Takes back what a run changed in a session, as far as no other request changed it again. A node whose version was written keeps
 * rising: a reader of the version in between never takes another one for it.
 */
export async function restoreSession(
  ports: ServicePorts,
  by: Principal,
  { session, before }: { session: Session; before: SessionState },
): Promise<void> {
  const { state: after } = session;
  const execution = after.family?.last ?? "";
  const hasRun = (await ports.executions.get(execution)) !== undefined;
  await changing(ports, by, session.id, ({ state }) => {
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
