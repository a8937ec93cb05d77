import type { JSX } from "react";

/** The SVG paths of the icons, in a view box of 16 by 16. */
const paths = {
  runs: "M3 4h7M3 8h10M3 12h5",
  check: "m3.5 8.5 3 3 6-7",
  cross: "m4 4 8 8m0-8-8 8",
  dot: "M8 7.5a.5.5 0 1 0 0 1 .5.5 0 0 0 0-1Z",
  clock: "M8 4.5V8l2.2 1.6M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0Z",
  pause: "M6 4.5v7M10 4.5v7",
  stop: "M5 5h6v6H5Z",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6Z",
  auto: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 0v12",
  help: "M6.2 6.1A1.9 1.9 0 0 1 8 4.8c1.1 0 1.9.7 1.9 1.7 0 1.3-1.9 1.5-1.9 2.8M8 11.4v.2M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0Z",
  out: "M10 5.2V3.5H3.5v9H10v-1.7M7 8h6.5m-2-2 2 2-2 2",
  copy: "M5.5 5.5V3.2h7.3v7.3h-2.3M3.2 5.5h7.3v7.3H3.2Z",
  search: "M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4ZM10.2 10.2l3.3 3.3",
  down: "m4 6 4 4 4-4",
  right: "m6 4 4 4-4 4",
  back: "M9.5 4 5.5 8l4 4",
  restart: "M12.8 8a4.8 4.8 0 1 1-1.5-3.5M12.9 2.6v2.6h-2.6",
  shield: "M8 2 3 3.8v3.7c0 3 2.1 5.4 5 6.5 2.9-1.1 5-3.5 5-6.5V3.8Z",
  fit: "M2.8 5.6V2.8h2.8M10.4 2.8h2.8v2.8M13.2 10.4v2.8h-2.8M5.6 13.2H2.8v-2.8",
  code: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  branch: "M4.5 3v10M4.5 9.5c0-3 7-1.5 7-5V3.8M11.5 3.8l-1.6 1.6m1.6-1.6 1.6 1.6",
  map: "M2.8 3.5h10.4M2.8 8h10.4M2.8 12.5h10.4",
  person: "M8 8.2a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2ZM3 13.2c.6-2.2 2.5-3.4 5-3.4s4.4 1.2 5 3.4",
  flow: "M3 3.5h4v3H3ZM9 9.5h4v3H9ZM5 6.5V11h4",
  spark: "M8 2.2 9.4 6.6 13.8 8 9.4 9.4 8 13.8 6.6 9.4 2.2 8l4.4-1.4Z",
  play: "M5.5 3.8v8.4L12 8Z",
  flag: "M4 14V2.8h8l-1.8 3 1.8 3H4",
  download: "M8 2.8v7m-3-2.6 3 3 3-3M3 13.2h10",
  upload: "M8 10V3m-3 2.6L8 2.6l3 3M3 13.2h10",
  file: "M4 2.5h5L12 5.6v7.9H4ZM8.8 2.7V6H12",
  mail: "M2.5 4h11v8h-11ZM2.8 4.6 8 8.6l5.2-4",
  link: "M6.8 9.2a2.4 2.4 0 0 0 3.4 0l2-2a2.4 2.4 0 0 0-3.4-3.4l-.8.8M9.2 6.8a2.4 2.4 0 0 0-3.4 0l-2 2a2.4 2.4 0 0 0 3.4 3.4l.8-.8",
  change: "M2.8 9c1.8-3.4 3.6-3.4 5.2-1s3.4 2.4 5.2-1",
  warning: "M8 2.6 14 13H2ZM8 6.6v3M8 11.4v.1",
  task: "M3.2 8.6 6 11.4l6.8-7M3 13.5h10",
  plus: "M8 3.5v9M3.5 8h9",
  minus: "M3.5 8h9",
  key: "M6 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8.2 7.8 13 3M11 5l1.8 1.8",
  bin: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5",
  coins:
    "M8 7c2.8 0 5-.9 5-2s-2.2-2-5-2-5 .9-5 2 2.2 2 5 2ZM3 5v3c0 1.1 2.2 2 5 2s5-.9 5-2V5M3 8v3c0 1.1 2.2 2 5 2s5-.9 5-2V8",
  pulse: "M2 8.5h3l1.5-4.5 3 8L11 8.5h3",
  list: "M5.5 4H13M5.5 8H13M5.5 12H13M3 4h.01M3 8h.01M3 12h.01",
  people:
    "M6 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4ZM2 13c.4-2.2 2-3.3 4-3.3s3.6 1.1 4 3.3M10.3 3.4a2.2 2.2 0 0 1 0 3.9M11.8 9.9c1.3.4 2 1.5 2.2 3.1",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  undo: "M4 6h5.5a3.2 3.2 0 0 1 0 6.5H6M6.5 3.5 4 6l2.5 2.5",
  redo: "M12 6H6.5a3.2 3.2 0 0 0 0 6.5H10M9.5 3.5 12 6 9.5 8.5",
  tiles: "M3 3h4v4H3ZM9 3h4v4H9ZM3 9h4v4H3ZM9 9h4v4H9Z",
  lock: "M4 7.2h8v6H4ZM5.7 7.2V5.3a2.3 2.3 0 0 1 4.6 0v1.9",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }): JSX.Element {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
