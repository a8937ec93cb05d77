import type { ResumeLink, ResumeLinkStore } from "@nova/engine";
import type { Caller } from "./scheduler.ts";

export class LinkState {
  readonly links = new Map<string, ResumeLink>();

  port(caller: Caller): ResumeLinkStore {
    const ask = <T>(name: string, effect: () => T) => caller.call({ name, effect });
    const { links } = this;
    return {
      create: (link) =>
        ask("create link", () => {
          if (!links.has(link.id)) links.set(link.id, link);
        }),
      get: ({ id }) => ask("get link", () => links.get(id)),
      ofExecution: (execution) =>
        ask("links of execution", () => [...links.values()].filter((link) => link.execution === execution)),
      call: ({ id }, body, calledAt) =>
        ask("call link", () => {
          const link = links.get(id);
          if (!link || link.body !== undefined) return false;
          return links.set(id, { ...link, body, calledAt }) !== undefined;
        }),
    };
  }
}
