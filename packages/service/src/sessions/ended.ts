import type { Execution } from "@nova/engine";
import { untilEnded } from "../executions/execute.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Session } from "../ports/sessions.ts";
import type { Begun } from "./run.ts";
import { readSession } from "./sessions.ts";
import { type OutputView, sessionOutputs } from "./view.ts";

export interface RunOfSession {
  session: Session;
  /** Undefined where nothing ran. */
  record: Execution | undefined;
  /** Nodes that it has come to outputs of. */
  ran: string[];
  outputs: OutputView[];
}

/** How a run of a session stands, once it has ended or `waitMs` are over. Throws `NotFound`. */
export async function sessionRun(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { execution, runs }: Pick<Begun, "execution" | "runs">,
  waitMs: number,
): Promise<RunOfSession> {
  const record = execution === null ? undefined : await untilEnded(ports, execution, waitMs);
  const session = await readSession(ports, by, id);
  const ran = runs.filter((node) => {
    const source = session.state.nodes[node]?.outcome?.source;
    return source && "hash" in source && source.execution === execution;
  });
  return { session, record, ran, outputs: ran.length === 0 ? [] : await sessionOutputs(ports, session, ran) };
}
