import type { Grant } from "../access/grants.ts";

export interface LambdaPlan {
  /** File below functions/ that exports `handler`. */
  file: string;
  timeoutSeconds: number;
  /** Also its share of a processor. */
  memoryMb: number;
  /** Invoked by rules and schedules, which do not wait: what fails is kept. */
  isAsynchronous?: boolean;
  /** Has the role of this function, which is of the same stack. */
  as?: string;
  may: readonly Grant[];
}

/** Plans with what most functions have where they say nothing else: the file of their name, two minutes, half a gigabyte. */
export function planned<Name extends string>(
  plans: Record<Name, Pick<LambdaPlan, "may"> & Partial<LambdaPlan>>,
): Record<Name, LambdaPlan> {
  const usual = (name: string) => ({ file: name.replace(/^nova-/, ""), timeoutSeconds: 120, memoryMb: 512 });
  const whole = Object.entries<Partial<LambdaPlan>>(plans).map(([name, plan]) => [name, { ...usual(name), ...plan }]);
  return Object.fromEntries(whole) as Record<Name, LambdaPlan>;
}
