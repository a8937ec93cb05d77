/** The outputs of each stack by its name, as SST writes them. */
export type Outputs = Record<string, Record<string, string>>;

/** A deployment of some stacks lacks the outputs of the others. */
export class OutputMissing extends Error {
  override name = "OutputMissing";
}

/** Returns undefined if the stack was not deployed. */
export function findOutput(outputs: Outputs, stack: string, name: string): string | undefined {
  const [, found] = Object.entries(outputs).find(([key]) => key.endsWith(`-nova-${stack}`)) ?? [];
  return found?.[name];
}

/** Throws `OutputMissing`. */
export function requireOutput(outputs: Outputs, stack: string, name: string): string {
  const value = findOutput(outputs, stack, name);
  if (value) return value;
  throw new OutputMissing(`the stack "${stack}" has no output ${name} - deploy all stacks`);
}
