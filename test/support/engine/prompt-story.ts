import { type Head, readTrace } from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { Authors, type Minds } from "./authors.ts";
import { atOnce, type Process } from "./scheduler.ts";
import { Story } from "./story.ts";

/** A story whose nodes use models. */
export class PromptStory extends Story {
  readonly authors: Authors;

  constructor(workflow: Workflow, minds: Minds, scripts: ConstructorParameters<typeof Story>[1] = {}) {
    super(workflow, scripts);
    this.authors = new Authors(this.world.chain, minds, this.invariants.onViolation);
    this.world.pipeline = (caller) => this.authors.port(caller);
  }

  /** The roles of paid requests, in order, each after the journal position of its step. */
  get paid(): string[] {
    return this.authors.payments.map(({ role, journal }) => `${journal} ${role}`);
  }

  /** Performs `count` calls of a process and of the code that it starts; returns false if there are fewer. */
  async calls(process: Process, count: number): Promise<boolean> {
    for (let made = 0; made < count; made++) if (!(await this.step(process))) return false;
    return true;
  }

  /** The head of the last entry on the main line. */
  get head(): Head {
    return headOf(this.entriesOf("").at(-1) as Parameters<typeof headOf>[0]);
  }

  trace(full = true) {
    return readTrace(this.world.ports(atOnce), this.id, { full });
  }
}
