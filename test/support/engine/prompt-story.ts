import { type Head, readTrace } from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { Authors, type Minds } from "./authors.ts";
import { atOnce, type Process } from "./scheduler.ts";
import { Story } from "./story.ts";

/** A story about a workflow whose nodes use models. */
export class PromptStory extends Story {
  readonly authors: Authors;

  constructor(workflow: Workflow, minds: Minds, scripts: ConstructorParameters<typeof Story>[1] = {}) {
    super(workflow, scripts);
    this.authors = new Authors(this.world.chain, minds, this.invariants.onViolation);
    this.world.pipeline = (caller) => this.authors.port(caller);
  }

  /** The paid requests in order, such as `2 code_generator`: the journal position of the step, and the role. */
  get paid(): string[] {
    return this.authors.payments.map(({ role, journal }) => `${journal} ${role}`);
  }

  /** Lets a process and the code that it starts make `count` calls together. Returns false if they end before that. */
  async calls(process: Process, count: number): Promise<boolean> {
    for (let made = 0; made < count; made++) if (!(await this.step(process))) return false;
    return true;
  }

  /** The hashed fields (head) of the last entry outside branches and items. */
  get head(): Head {
    return headOf(this.entriesOf("").at(-1) as Parameters<typeof headOf>[0]);
  }

  trace(full = true) {
    return readTrace(this.world.ports(atOnce), this.id, { full });
  }
}
