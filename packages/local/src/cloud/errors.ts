/** Thrown if the local cloud cannot open. The message says what to do. */
export class LocalCloudError extends Error {
  override name = "LocalCloudError";
}

/** Thrown if a signal, such as Ctrl-C, stopped an installation. The installation has left no files. */
export class Interrupted extends Error {
  override name = "Interrupted";
}

/** Thrown if the owner of the data folder died while this process was its guest. */
export class OwnerGone extends Error {
  override name = "OwnerGone";

  constructor() {
    const advice = "`nova executions` shows what became of the run";
    super(`the process that owned the data folder has ended - ${advice}`);
  }
}

/** Explains to the user, who chose the port with `option`, why a server cannot listen. */
export function portError(port: number, cause: Error, option: string): LocalCloudError {
  const isTaken = "code" in cause && cause.code === "EADDRINUSE";
  const what = isTaken ? `port ${port} is taken` : `port ${port} cannot be opened (${cause.message})`;
  return new LocalCloudError(`${what} - end what listens there, or choose another one with ${option}`, { cause });
}
