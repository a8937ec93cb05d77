/** One sentence for an operation that a local server does not have; `served` are the names of those that it has. */
export function notServed(service: string, operation: string, served: readonly string[]): string {
  return `The local ${service} does not serve ${operation}. It serves ${[...served].sort().join(", ")}.`;
}
