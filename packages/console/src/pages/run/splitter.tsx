import { texts } from "../../texts.ts";

/** The smallest, the initial and the largest width of the inspector, in percent of the page. */
const [least, usual, most] = [24, 38, 70];
const storageKey = "nova-inspector";
const step = 2;

/** Returns the width that the user last chose in this browser, or else the initial width. */
export function readWidth(): number {
  const stored = Number(localStorage.getItem(storageKey));
  return stored >= least && stored <= most ? stored : usual;
}

/** The edge of the inspector, which the user moves by mouse or by arrow keys. */
export function Splitter({ width, onChange }: { width: number; onChange(width: number): void }) {
  const change = (next: number) => {
    const limited = Math.round(Math.min(most, Math.max(least, next)));
    localStorage.setItem(storageKey, String(limited));
    onChange(limited);
  };
  const moves: Record<string, number> = { ArrowLeft: width + step, ArrowRight: width - step, Home: most, End: least };
  return (
    <div
      role="separator"
      className="splitter"
      tabIndex={0}
      aria-label={texts.run.resize}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        const page = event.currentTarget.closest(".run-views")?.getBoundingClientRect();
        if (page && event.currentTarget.hasPointerCapture(event.pointerId))
          change(((page.right - event.clientX) / page.width) * 100);
      }}
      onDoubleClick={() => change(usual)}
      onKeyDown={(event) => {
        const next = moves[event.key];
        if (next === undefined) return;
        event.preventDefault();
        change(next);
      }}
    />
  );
}
