import type { Grant } from "../access/grants.ts";

export interface LambdaPlan {
  /** File below functions/ that exports `handler`. */
  file: string;
  timeoutSeconds: number;
  /** Memory in MB; it also sets the share of a processor. */
  memoryMb: number;
  /** True if rules and schedules invoke it without waiting: failed events are kept. */
  isAsynchronous?: boolean;
  /** Uses the role of this function of the same stack. */
  as?: string;
  may: readonly Grant[];
}

/** Fills in the defaults: the file with the function's name, two minutes, half a gigabyte. */
export function fillPlans<Name extends string>(
  plans: Record<Name, Pick<LambdaPlan, "may"> & Partial<LambdaPlan>>,
): Record<Name, LambdaPlan> {
  const usual = (name: string) => ({ file: name.replace(/^nova-/, ""), timeoutSeconds: 120, memoryMb: 512 });
  const whole = Object.entries<Partial<LambdaPlan>>(plans).map(([name, plan]) => [name, { ...usual(name), ...plan }]);
  return Object.fromEntries(whole) as Record<Name, LambdaPlan>;
}
