import {
  DescribeExecutionCommand,
  paginateGetExecutionHistory,
  paginateListExecutions,
  paginateListStateMachines,
  type SFNClient,
} from "@aws-sdk/client-sfn";

/** An execution of a state machine, read from its Step Functions history. */
export interface VisitedStates {
  name: string;
  status: string;
  /** The names of the states that the execution entered, in order. */
  entered: string[];
  error: string | undefined;
}

/** All executions, by the name of their state machine. */
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
 * Returns how the executions of a state machine differ between two clouds. Executions, and the branches and items in
 * them, have no fixed order. So the sorted states and the end of each execution are compared.
 */
export function differences(left: readonly VisitedStates[], right: readonly VisitedStates[]): string[] {
  const [onLeft, onRight] = [left.map(brief).sort(), right.map(brief).sort()];
  return [
    ...without(onLeft, onRight).map((path) => `only deployed: ${path}`),
    ...without(onRight, onLeft).map((path) => `only local: ${path}`),
  ];
}

function brief({ status, error, entered }: VisitedStates): string {
  // moto does not keep the error of a stopped execution. So the comparison includes only the errors of failed
  // executions.
  const failed = status === "FAILED" ? [`(${error})`] : [];
  return [status, ...failed, ...[...entered].sort()].join(" ");
}

/** Returns the texts of `all` that `others` does not contain, or contains less often. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return all.filter((one) => {
    const place = left.indexOf(one);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}
