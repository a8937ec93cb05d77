/** Somebody else holds the turn, closes it, or has the entry written: the chain has to be read again. */
export class TurnLost extends Error {
  override name = "TurnLost";
}

/** The pipeline of this node has failed, in another delivery. */
export class PipelineEnded extends Error {
  override name = "PipelineEnded";
}

/** Nobody will know what became of the code that ran for a place of the journal. */
abstract class CodeLost extends Error {
  readonly journal: number;

  constructor(message: string, journal: number) {
    super(message);
    this.journal = journal;
  }
}

/** The sandbox that the turn names is gone, where code was to run. */
export class SandboxGone extends CodeLost {
  override name = "SandboxGone";

  constructor(journal: number) {
    super(`the sandbox is gone, with the code of step ${journal}`, journal);
  }
}

/** The sandbox gave no result of the code in its time. */
export class CodeOverdue extends CodeLost {
  override name = "CodeOverdue";
  readonly timeoutSeconds: number;

  constructor(journal: number, timeoutSeconds: number) {
    super(`the code of step ${journal} gave no result in time`, journal);
    this.timeoutSeconds = timeoutSeconds;
  }
}
