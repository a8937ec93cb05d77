import type { IconName } from "../icon.tsx";

const icons: Record<string, IconName> = {
  ...{ start: "play", end: "flag", decision: "branch", map: "map" },
  ...{ approval: "person", wait: "clock", workflow: "flow" },
};

/** What kind of node it is. */
export function kindIcon(type: string, isPrompt: boolean): IconName {
  return isPrompt ? "spark" : (icons[type] ?? "code");
}
