import type { Generation, GenerationStore } from "@nova/engine";

/** A store of generated code in memory. Like the table, it refuses to update code that it does not have. */
export class MemoryGenerations implements GenerationStore {
  readonly all: Generation[] = [];

  async of(workflowId: string, node: string, client: string | null): Promise<Generation[]> {
    const found = (await this.ofWorkflow(workflowId)).filter((one) => one.node === node && one.client === client);
    return found.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  }

  async ofWorkflow(workflowId: string): Promise<Generation[]> {
    return this.all.filter((one) => one.workflowId === workflowId).map((one) => ({ ...one }));
  }

  async create(generation: Generation): Promise<boolean> {
    if (this.all.some(isSame(generation))) return false;
    this.all.push({ ...generation });
    return true;
  }

  async update(which: Parameters<GenerationStore["update"]>[0], changes: Partial<Generation>): Promise<void> {
    const found = this.all.find(isSame(which));
    if (!found) throw new Error(`there is no generation ${which.key} of ${which.node}`);
    Object.assign(found, changes);
  }
}

function isSame(a: Parameters<GenerationStore["update"]>[0]): (b: Generation) => boolean {
  return (b) => (["workflowId", "node", "client", "key", "codeHash"] as const).every((field) => a[field] === b[field]);
}
