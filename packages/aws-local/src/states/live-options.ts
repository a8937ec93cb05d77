import type { Clock } from "../clock.ts";
import type { DiskSpace } from "../disk/disk-space.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import type { ExecutionStart } from "./asl/execute.ts";
import type { ChildStart, ReadObject, StartedChild } from "./asl/host.ts";
import type { StateMachine } from "./asl/state.ts";
import type { StatusChange } from "./ends.ts";
import type { Execution } from "./store/executions.ts";

export interface LiveOptions {
  clock: Clock;
  disk: DiskSpace;
  invokeLambda: InvokeLambda;
  readObject: ReadObject;
  /** Returns the compiled definition of an execution, and its ARNs. */
  prepare(execution: Execution): { machine: StateMachine; start: Omit<ExecutionStart, "input"> };
  /**
   * Starts an execution for another one.
   * @throws Error with the name of the failure that AWS reports
   */
  startChild(child: ChildStart, startedBy: NonNullable<Execution["startedBy"]>): StartedChild;
  onStatusChange(change: StatusChange): void | Promise<void>;
  /**
   * Returns the name of an execution's owner, which is in its input. When the machine is busy, owners take turns.
   * Absent: all executions have one owner.
   */
  ownerOf?(input: string): string;
}
