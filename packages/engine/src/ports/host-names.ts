/** Looks names up, where functions run. */
export interface HostNames {
  /** Addresses of a name; none where there is no such name. Throws `SandboxUnavailable` where nobody can say. */
  addressesOf(host: string): Promise<string[]>;
}
