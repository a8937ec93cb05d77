import type { HandOver, Publication, PublicationName, PublicationStore } from "@nova/service";
import { idsBehind } from "../../support/ids-behind.ts";

/** Publications in memory, as strict as the table. */
export class MemoryPublications implements PublicationStore {
  readonly kept = new Map<string, Publication>();

  async create(publication: Publication): Promise<boolean> {
    const isNew = !this.kept.has(keyOf(publication));
    if (isNew) this.kept.set(keyOf(publication), publication);
    return isNew;
  }

  async get(name: PublicationName): Promise<Publication | undefined> {
    return this.kept.get(keyOf(name));
  }

  async latest(workflowId: string): Promise<Publication | undefined> {
    const own = [...this.kept.values()].filter((one) => one.workflowId === workflowId);
    return own.sort((a, b) => b.version - a.version)[0];
  }

  async recordHandOver(name: PublicationName, handedOver: HandOver): Promise<void> {
    const there = this.kept.get(keyOf(name));
    if (there?.status === "publishing") this.kept.set(keyOf(name), { ...there, handedOver });
  }

  async settle(name: PublicationName, state: Parameters<PublicationStore["settle"]>[1]): Promise<void> {
    const there = this.kept.get(keyOf(name));
    if (there?.status === "publishing") this.kept.set(keyOf(name), { ...there, ...state } as Publication);
  }

  ids(after?: string): AsyncGenerator<string> {
    return idsBehind(this.kept.values(), after);
  }

  async *pending(): AsyncGenerator<Publication> {
    for (const one of this.kept.values()) if (one.status === "publishing") yield one;
  }
}

function keyOf({ workflowId, version }: PublicationName): string {
  return `${workflowId}#${version}`;
}
