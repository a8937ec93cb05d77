import * as Tabs from "@radix-ui/react-tabs";
import type { JSX, ReactNode } from "react";
import { useAddress } from "./filters.tsx";

interface TabViewProps {
  label: string;
  /** The name of the tab that is open at first. */
  initial: string;
  tabs: readonly (readonly [name: string, label: ReactNode, content: ReactNode])[];
  /** Content below the open tab. */
  children?: ReactNode;
}

/** Tabs whose selection is in the address, so that a copied address shows the same tab. */
export function TabView({ label, initial, tabs, children }: TabViewProps): JSX.Element {
  const [{ tab }, change] = useAddress(["tab"]);
  const open = tabs.some(([name]) => name === tab) ? tab : initial;
  return (
    <Tabs.Root className="tabs" value={open ?? initial} onValueChange={(next) => change({ tab: next })}>
      <Tabs.List className="tab-list" aria-label={label}>
        {tabs.map(([name, title]) => (
          <Tabs.Trigger key={name} value={name} className="tab">
            {title}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {tabs.map(([name, , content]) => (
        <Tabs.Content key={name} value={name} className="pane-body">
          {content}
        </Tabs.Content>
      ))}
      {children}
    </Tabs.Root>
  );
}
