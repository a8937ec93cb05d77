/** Versions of state machines (Step Functions keeps 1,000 of each), by their ARNs. */
export interface MachineVersions {
  /** Of the machine that this version is of, newest first. */
  list(versionArn: string): Promise<string[]>;
  /** Runs on it go on; one that is gone is success. */
  remove(versionArn: string): Promise<void>;
}
