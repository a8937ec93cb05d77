/** Somebody else holds the turn, closes it, or has the entry written: the chain has to be read again. */
export class TurnLost extends Error {
  override name = "TurnLost";
}

/** The pipeline of this node has failed, in another delivery. */
export class PipelineEnded extends Error {
  override name = "PipelineEnded";
}

/** The sandbox that the turn names is gone, where code was to run for a place of the journal. */
export class SandboxGone extends Error {
  override name = "SandboxGone";
  readonly journal: number;

  constructor(journal: number) {
    super(`the sandbox is gone, with the code of step ${journal}`);
    this.journal = journal;
  }
}
