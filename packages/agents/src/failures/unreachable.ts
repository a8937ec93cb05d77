/**
 * Why a host could not be reached, from the log of a run: behind its walls the code itself only meets a connection that
 * breaks. Empty where the log says nothing of it.
 */
export function unreachableIn(logs: string): string {
  const [, said = ""] = Array.from(logs.matchAll(/^\[network\] (.+ cannot be reached: .+)$/gm)).at(-1) ?? [];
  return said;
}
