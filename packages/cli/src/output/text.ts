import { styled } from "./terminal.ts";

export function duration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (hours < 1) return `${minutes} min ${seconds % 60} s`;
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** JSON text, cut so that it stays one line of a terminal. */
export function shortened(text: string, length = 100): string {
  const line = text.replaceAll(/\s*\n\s*/g, " ");
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}

/** What anybody may have written, as one line that steers no terminal. */
export function strangersText(text: string, length?: number): string {
  return shortened(text.replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, " "), length);
}

/** The same as a cell of a table: cut for a terminal, whole for whatever else reads it. */
export function cell(text: string, length = 60): string {
  return strangersText(text, process.stdout.isTTY ? length : Number.POSITIVE_INFINITY);
}

const colours = {
  completed: "green",
  success: "green",
  failed: "red",
  cancelled: "yellow",
  interrupted: "yellow",
  running: "cyan",
  queued: "cyan",
  waiting: "cyan",
} as const;

export function statusText(status: keyof typeof colours): string {
  return styled(colours[status], status);
}

/** A named text under a title; nothing where there is none. */
export function section(name: string, text: string | null | undefined): string[] {
  return text ? [styled("cyan", `${name}:`), indented(text)] : [];
}

export function indented(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "  ");
}
