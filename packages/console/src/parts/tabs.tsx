import * as Tabs from "@radix-ui/react-tabs";
import type { JSX, ReactNode } from "react";

interface TabViewProps {
  label: string;
  /** The name of the tab that is open at first. */
  initial: string;
  tabs: readonly (readonly [name: string, label: ReactNode, content: ReactNode])[];
  children?: ReactNode;
}

/** Tabs whose selection is not in the URL. `children` are shown below whichever tab is open. */
export function TabView({ label, initial, tabs, children }: TabViewProps): JSX.Element {
  return (
    <Tabs.Root className="tabs" defaultValue={initial}>
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
