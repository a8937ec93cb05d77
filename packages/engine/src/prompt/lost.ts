/** Somebody else holds the turn, closes it, or has the entry written: the chain has to be read again. */
export class TurnLost extends Error {
  override name = "TurnLost";
}

/** The sandbox that the turn names is gone. */
export class SandboxGone extends Error {
  override name = "SandboxGone";
}
