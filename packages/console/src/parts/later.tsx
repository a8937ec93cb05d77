import { type ComponentType, type JSX, useEffect, useState } from "react";
import { Loading } from "./states.tsx";

/**
 * A part whose code is fetched when it is first shown; one that cannot be fetched fails as a part that cannot be drawn.
 * React's own `lazy` shows what stands in its place for 300 ms at least, this not a moment longer than it has to.
 */
export function later<Props extends object>(fetched: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | undefined;
  return function Later(props: Props): JSX.Element {
    const [Part, setPart] = useState<ComponentType<Props> | undefined>(() => known);
    const [failure, setFailure] = useState<unknown>();
    useEffect(() => {
      if (known) return;
      fetched().then((found) => {
        known = found;
        setPart(() => found);
      }, setFailure);
    }, []);
    if (failure !== undefined) throw failure;
    return Part ? <Part {...props} /> : <Loading />;
  };
}
