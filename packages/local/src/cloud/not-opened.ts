import { LocalCloudError } from "./errors.ts";

/** Why a server cannot listen, for whoever chose the port with `option`. */
export function notOpened(port: number, cause: Error, option: string): LocalCloudError {
  const isTaken = "code" in cause && cause.code === "EADDRINUSE";
  const what = isTaken ? `port ${port} is taken` : `port ${port} cannot be opened (${cause.message})`;
  return new LocalCloudError(`${what} - end what listens there, or choose another one with ${option}`, { cause });
}
