import {
  DescribeExecutionCommand,
  paginateGetExecutionHistory,
  paginateListExecutions,
  paginateListStateMachines,
  type SFNClient,
} from "@aws-sdk/client-sfn";

/** An execution of a state machine, as Step Functions tells it. */
export interface VisitedStates {
  name: string;
  status: string;
  /** Names of the states that it entered, in the order of their events. */
  entered: string[];
  error: string | undefined;
}

/** Executions by the name of their state machine. */
export type Visited = Map<string, VisitedStates[]>;

export async function visited(states: SFNClient): Promise<Visited> {
  const all: Visited = new Map();
  for await (const { stateMachines } of paginateListStateMachines({ client: states }, {})) {
    for (const { name = "", stateMachineArn = "" } of stateMachines ?? []) {
      all.set(name, await executionsOf(states, stateMachineArn));
    }
  }
  return all;
}

export async function executionsOf(states: SFNClient, stateMachineArn: string): Promise<VisitedStates[]> {
  const executions: VisitedStates[] = [];
  for await (const page of paginateListExecutions({ client: states }, { stateMachineArn })) {
    for (const { executionArn = "", name = "", status = "" } of page.executions ?? []) {
      const { error } = await states.send(new DescribeExecutionCommand({ executionArn }));
      executions.push({ name, status, error, entered: await enteredBy(states, executionArn) });
    }
  }
  return executions;
}

async function enteredBy(states: SFNClient, executionArn: string): Promise<string[]> {
  const entered: string[] = [];
  for await (const { events } of paginateGetExecutionHistory({ client: states }, { executionArn, maxResults: 1000 })) {
    for (const { stateEnteredEventDetails } of events ?? []) {
      if (stateEnteredEventDetails?.name) entered.push(stateEnteredEventDetails.name);
    }
  }
  return entered;
}

/**
 * How executions of one state machine differ between two Step Functions. Branches and items have no order, and neither
 * have executions: each is what it entered, sorted, and how it ended.
 */
export function differences(left: readonly VisitedStates[], right: readonly VisitedStates[]): string[] {
  const [onLeft, onRight] = [left.map(brief).sort(), right.map(brief).sort()];
  return [
    ...without(onLeft, onRight).map((path) => `only deployed: ${path}`),
    ...without(onRight, onLeft).map((path) => `only local: ${path}`),
  ];
}

function brief({ status, error, entered }: VisitedStates): string {
  // moto keeps no error of an execution that was stopped.
  const failed = status === "FAILED" ? [`(${error})`] : [];
  return [status, ...failed, ...[...entered].sort()].join(" ");
}

/** Those of a list that another one has not, counting repetitions. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return all.filter((one) => {
    const place = left.indexOf(one);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}
