import { createContext, type JSX, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";
import { texts } from "../texts.ts";
import { Dialog, OpenDialog } from "./dialog.tsx";

interface Shortcut {
  label: string;
  run(): void;
}

/** Shortcuts by `KeyboardEvent.key`; a space separates the two keys of a sequence. */
type Shortcuts = Readonly<Record<string, Shortcut>>;

/** A part of the open page to which the palette leads, such as a node of a run. */
export interface Place {
  name: string;
  note: string;
  open(): void;
}

interface Keyboard {
  add(shortcuts: Shortcuts): () => void;
  showList(): void;
  listShortcuts(): ListedShortcut[];
  /** Replaces the places of the open page. */
  setPlaces(places: readonly Place[]): void;
  listPlaces(): readonly Place[];
}

interface ListedShortcut extends Shortcut {
  keys: string[];
}

const KeyboardContext = createContext<Keyboard | null>(null);

/** Maximum time between the two keys of a sequence. */
const pairMs = 1000;

export function KeyboardProvider({ children }: { children: ReactNode }): JSX.Element {
  const groups = useRef<Shortcuts[]>([]);
  const places = useRef<readonly Place[]>([]);
  const [isListed, setListed] = useState(false);
  const keyboard = useMemo<Keyboard>(
    () => ({
      add(shortcuts) {
        groups.current.push(shortcuts);
        return () => {
          groups.current = groups.current.filter((one) => one !== shortcuts);
        };
      },
      showList: () => setListed(true),
      listShortcuts: () => joinShortcuts(groups.current),
      setPlaces(next) {
        places.current = next;
      },
      listPlaces: () => places.current,
    }),
    [],
  );
  useEffect(() => {
    let before: { key: string; at: number } | undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || activatesControl(event)) return;
      const pair = before && event.timeStamp - before.at < pairMs ? `${before.key} ${event.key}` : "";
      before = { key: event.key, at: event.timeStamp };
      // A sequence takes precedence over a single key: `g k` over `k`.
      const latestFirst = groups.current.toReversed();
      const [shortcut] = [pair, event.key].flatMap((key) => latestFirst.flatMap((group) => group[key] ?? []));
      if (!shortcut) return;
      event.preventDefault();
      shortcut.run();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  useEffect(() => keyboard.add({ "?": { label: texts.keys.help, run: keyboard.showList } }), [keyboard]);
  return (
    <KeyboardContext.Provider value={keyboard}>
      {children}
      {isListed && (
        <OpenDialog value={() => setListed(false)}>
          <KeyList groups={groups.current} />
        </OpenDialog>
      )}
    </KeyboardContext.Provider>
  );
}

/** Returns whether the user types into a field or an editor, or a dialog is open. An editor is inside a shadow root. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (document.querySelector("dialog[open]")) return true;
  return (
    target instanceof Element &&
    target.closest("input:not([type=checkbox]), textarea, select, [contenteditable=true]") !== null
  );
}

/** Returns whether the key activates the focused button or link. */
function activatesControl({ key, target }: KeyboardEvent): boolean {
  return (key === "Enter" || key === " ") && target instanceof Element && target.closest("button, a, summary") !== null;
}

/**
 * Registers shortcuts while the component is mounted. If several shortcuts use one key, the last one registered counts.
 */
export function useKeys(shortcuts: Shortcuts): void {
  const keyboard = useContext(KeyboardContext);
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const names = Object.keys(shortcuts).join("\n");
  useEffect(() => {
    const entries = names.split("\n").map((key) => {
      return [key, { label: latest.current[key]?.label ?? "", run: () => latest.current[key]?.run() }] as const;
    });
    return keyboard?.add(Object.fromEntries(entries));
  }, [keyboard, names]);
}

interface StepLabels {
  next: string;
  previous: string;
}

/**
 * Registers `j` and `k`, which select the next and the previous item. Without a selection, they select the first and the
 * last item.
 */
export function useStepKeys<Item>(
  items: readonly Item[],
  selected: Item | undefined,
  select: (item: Item) => void,
  labels: StepLabels,
): void {
  const step = (by: 1 | -1) => {
    const from = selected === undefined ? -1 : items.indexOf(selected);
    const to = from < 0 && by < 0 ? items.length - 1 : from + by;
    const item = items[Math.max(0, Math.min(items.length - 1, to))];
    if (item !== undefined) select(item);
  };
  useKeys({
    j: { label: labels.next, run: () => step(1) },
    k: { label: labels.previous, run: () => step(-1) },
  });
}

/**
 * Registers `j`, `k` and the arrow keys, which select a row, and Enter, which opens it. Returns the index of the selected
 * row; -1 before the first key.
 */
export function useRowKeys(
  count: number,
  labels: StepLabels & { open: string },
  open: (index: number) => void,
): number {
  const [at, setAt] = useState(-1);
  const step = (by: 1 | -1) => setAt((before) => Math.max(0, Math.min(count - 1, before + by)));
  const next = { label: labels.next, run: () => step(1) };
  const previous = { label: labels.previous, run: () => step(-1) };
  useKeys({
    j: next,
    ArrowDown: next,
    k: previous,
    ArrowUp: previous,
    Enter: { label: labels.open, run: () => at >= 0 && at < count && open(at) },
  });
  return at;
}

/** Registers the places of the page while it is mounted. */
export function usePlaces(places: readonly Place[]): void {
  const keyboard = useContext(KeyboardContext);
  useEffect(() => {
    keyboard?.setPlaces(places);
    return () => keyboard?.setPlaces([]);
  }, [keyboard, places]);
}

/** Returns the shortcuts and the places of the page at this time. */
export function usePageTargets(): { shortcuts: ListedShortcut[]; places: readonly Place[] } {
  const keyboard = useContext(KeyboardContext);
  return useMemo(
    () => ({ shortcuts: keyboard?.listShortcuts() ?? [], places: keyboard?.listPlaces() ?? [] }),
    [keyboard],
  );
}

/**
 * Joins shortcuts with the same label, because they do the same. If several shortcuts use one key, keeps the last one.
 */
function joinShortcuts(groups: readonly Shortcuts[]): ListedShortcut[] {
  const all = new Map(groups.flatMap((group) => Object.entries(group)));
  const byLabel = Map.groupBy(all, ([, { label }]) => label);
  return Array.from(byLabel, ([label, same]) => {
    return { label, keys: same.map(([key]) => key), run: () => same[0]?.[1].run() };
  });
}

export function useKeyList(): () => void {
  return useContext(KeyboardContext)?.showList ?? (() => undefined);
}

const keyNames: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", Enter: "Enter", " ": "Space" };

function KeyList({ groups }: { groups: readonly Shortcuts[] }): JSX.Element {
  return (
    <Dialog title={texts.keys.title}>
      <dl className="key-list lined">
        {joinShortcuts(groups).map(({ label, keys }) => (
          <div key={label} className="row">
            <dt className="fill">{label}</dt>
            {keys.map((key) => (
              <dd key={key} className="row tight">
                {(key === " " ? [key] : key.split(" ")).map((one) => (
                  <kbd key={one}>{keyNames[one] ?? one}</kbd>
                ))}
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
