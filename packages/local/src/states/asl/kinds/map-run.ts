import type { Json } from "../../../json.ts";
import { History } from "../../history.ts";
import { type Run, Thread } from "../thread.ts";

/** The executions of one distributed Map, as far as names go. */
export interface MapRun {
  arn: string;
  /** What the name of each execution follows. */
  executions: string;
  stateMachine: string;
}

export function mapRunOf({ region, accountId, context, host }: Run, label: string): MapRun {
  const name = `${context.StateMachine.Name}/${label}`;
  const arnOf = (kind: string) => `arn:aws:states:${region}:${accountId}:${kind}:${name}`;
  return {
    arn: `${arnOf("mapRun")}:${host.uuid()}`,
    executions: arnOf("execution"),
    stateMachine: `${context.StateMachine.Id}/${label}`,
  };
}

/**
 * The main line of an item's execution. What it asks for is asked for in the name of the execution that has the Map, so
 * that one journal brings back both.
 */
export function childThread(run: Run, mapRun: MapRun, input: Json, signal: AbortSignal): Thread {
  const { host, context } = run;
  const name = host.uuid();
  const execution = {
    ...context.Execution,
    ...{ Id: `${mapRun.executions}:${name}`, Input: input, Name: name },
    StartTime: new Date(host.now()).toISOString(),
  };
  const history = new History(host.now, () => undefined);
  const stateMachine = { ...context.StateMachine, Id: mapRun.stateMachine };
  const thread = new Thread(
    { ...run, history, context: { Execution: execution, StateMachine: stateMachine } },
    signal,
    0,
  );
  thread.lastEventId = history.recordEnd(0, { type: "ExecutionStarted" });
  return thread;
}
