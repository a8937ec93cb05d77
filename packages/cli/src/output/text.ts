import { styled } from "./terminal.ts";

export function duration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (hours < 1) return `${minutes} min ${seconds % 60} s`;
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Cuts a text so that it fits on one line of a terminal. */
export function shorten(text: string, length = 100): string {
  const line = text.replaceAll(/\s*\n\s*/g, " ");
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}

/** A text from other people, as one line without control characters. */
export function untrustedLine(text: string, length?: number): string {
  return shorten(text.replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, " "), length);
}

/** A text from other people for a table cell: cut for a terminal, whole for other readers. */
export function cell(text: string, length = 60): string {
  return untrustedLine(text, process.stdout.isTTY ? length : Number.POSITIVE_INFINITY);
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

/** A text under a title; empty if there is no text. */
export function section(name: string, text: string | null | undefined): string[] {
  return text ? [styled("cyan", `${name}:`), indent(text)] : [];
}

export function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "  ");
}
