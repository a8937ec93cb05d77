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
  /** The definition that an execution runs, and its names. */
  prepare(execution: Execution): { machine: StateMachine; start: Omit<ExecutionStart, "input"> };
  /** @throws Error with the name of the failure that AWS reports */
  startChild(child: ChildStart, startedBy: NonNullable<Execution["startedBy"]>): StartedChild;
  onStatusChange(change: StatusChange): void | Promise<void>;
  /** The owner of an execution by its input: owners take turns. Absent: all executions have one owner. */
  ownerOf?(input: string): string;
}
