/** Outputs of each stack, by its name, as SST writes them. */
export type Outputs = Record<string, Record<string, string>>;

/** A deployment of a part of the stacks has not all of them. */
export class OutputMissing extends Error {
  override name = "OutputMissing";
}

/** Undefined where only other stacks were deployed. */
export function maybeOutput(outputs: Outputs, stack: string, name: string): string | undefined {
  const [, found] = Object.entries(outputs).find(([key]) => key.endsWith(`-nova-${stack}`)) ?? [];
  return found?.[name];
}

/** Throws `OutputMissing`. */
export function outputOf(outputs: Outputs, stack: string, name: string): string {
  const value = maybeOutput(outputs, stack, name);
  if (value) return value;
  throw new OutputMissing(`the stack "${stack}" has no output ${name} - deploy all stacks`);
}
