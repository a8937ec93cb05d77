import { type JSX, useEffect, useState } from "react";
import { texts } from "../../texts.ts";
import { CodeLines } from "../code.tsx";
import { JsonView } from "../json-view.tsx";
import { Loading } from "../states.tsx";
import { UntrustedText } from "../untrusted-text.tsx";
import { readSheet } from "./xlsx.ts";
import "./preview.css";

interface PreviewProps {
  bytes: Uint8Array<ArrayBuffer>;
  name: string;
  type: string;
  /** Requests an address that serves the bytes as a PDF from another origin. */
  pdf(): Promise<string>;
}

const maxRows = 50;
const longestText = 100_000;

/** Shows a preview of bytes. Nothing in them is executed: images are images, and another origin serves PDFs. */
export function Preview({ bytes, name, type, pdf }: PreviewProps): JSX.Element {
  const kind = usePreviewKind(bytes, name, type);
  if (!kind) return <Loading lines={3} />;
  if (kind.as === "image") return <Picture bytes={bytes} type={kind.type} name={name} />;
  if (kind.as === "pdf") return <Pdf name={name} address={pdf} />;
  if (kind.as === "sheet") return <Sheet bytes={bytes} />;
  if (kind.as === "json") return <JsonView text={kind.text} />;
  if (kind.as === "csv") return <Table rows={parseCsv(kind.text, maxRows)} />;
  if (kind.as === "text") return <CodeLines code={kind.text.slice(0, longestText)} />;
  return <p className="quiet">{texts.preview.none}</p>;
}

/** Detects the kind in a separate task, because it reads megabytes. */
function usePreviewKind(bytes: Uint8Array<ArrayBuffer>, name: string, type: string): PreviewKind | undefined {
  const [kind, setKind] = useState<PreviewKind>();
  useEffect(() => {
    const timer = setTimeout(() => setKind(detectKind(bytes, name, type)));
    return () => clearTimeout(timer);
  }, [bytes, name, type]);
  return kind;
}

/** An `img` element executes no scripts, not even those of an SVG. */
function Picture({ bytes, type, name }: { bytes: Uint8Array<ArrayBuffer>; type: string; name: string }): JSX.Element {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const objectUrl = URL.createObjectURL(new Blob([bytes], { type }));
    setAddress(objectUrl);
    return () => URL.revokeObjectURL(objectUrl);
  }, [bytes, type]);
  return <>{address && <img className="preview-picture" src={address} alt={name} />}</>;
}

function Pdf({ name, address }: { name: string; address(): Promise<string> }): JSX.Element {
  const [url, setUrl] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address stays valid longer than the preview is open
  useEffect(() => {
    address().then(setUrl, () => undefined);
  }, []);
  return <>{url && <iframe className="preview-pdf" src={url} title={name} referrerPolicy="no-referrer" />}</>;
}

function Sheet({ bytes }: { bytes: Uint8Array<ArrayBuffer> }): JSX.Element {
  const [rows, setRows] = useState<string[][] | null>();
  useEffect(() => {
    readSheet(bytes, maxRows).then(
      (found) => setRows(found ?? null),
      () => setRows(null),
    );
  }, [bytes]);
  if (rows === null) return <p className="quiet">{texts.preview.none}</p>;
  return <>{rows && <Table rows={rows} />}</>;
}

function Table({ rows }: { rows: readonly (readonly string[])[] }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
    <div className="preview-table" tabIndex={0} role="group" aria-label={texts.preview.table(rows.length)}>
      <table>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a file never change their order
            <tr key={index}>
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells of a row never change their order
                <td key={column}>
                  <UntrustedText text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The kind of a preview; `none`: download only. */
export type PreviewKind =
  | { as: "image"; type: string }
  | { as: "pdf" }
  | { as: "sheet" }
  | { as: "csv"; text: string }
  | { as: "json"; text: string }
  | { as: "text"; text: string }
  | { as: "none" };

/** Magic numbers of file formats. */
const magicNumbers: [bytes: readonly number[], kind: PreviewKind][] = [
  [[0x89, 0x50, 0x4e, 0x47], { as: "image", type: "image/png" }],
  [[0xff, 0xd8, 0xff], { as: "image", type: "image/jpeg" }],
  [[0x47, 0x49, 0x46, 0x38], { as: "image", type: "image/gif" }],
  [[0x25, 0x50, 0x44, 0x46, 0x2d], { as: "pdf" }],
  [[0x50, 0x4b, 0x03, 0x04], { as: "sheet" }],
];

/** Detects the kind from the content, because a declared type cannot be trusted. */
export function detectKind(bytes: Uint8Array, name: string, type: string): PreviewKind {
  const binary = magicNumbers.find(([prefix]) => prefix.every((byte, index) => bytes[index] === byte));
  if (binary) return binary[1];
  if (isWebp(bytes)) return { as: "image", type: "image/webp" };
  const text = decodeText(bytes);
  if (text === undefined) return { as: "none" };
  if (/^\s*(<\?xml[^>]*\?>\s*)?(<!--[\s\S]*?-->\s*)*<svg[\s>]/i.test(text))
    return { as: "image", type: "image/svg+xml" };
  if (type === "json" || isJson(text)) return { as: "json", text };
  return { as: /\.csv$/i.test(name) || looksLikeTable(text) ? "csv" : "text", text };
}

function isWebp(bytes: Uint8Array): boolean {
  const letters = (from: number, to: number) => String.fromCharCode(...bytes.slice(from, to));
  return letters(0, 4) === "RIFF" && letters(8, 12) === "WEBP";
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Longer texts are not tested for JSON: it would block the page. */
const longestGuess = 200_000;

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text) || text.length > longestGuess) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether the first lines contain the same number of separators. */
function looksLikeTable(text: string): boolean {
  const lines = text
    .slice(0, 4_000)
    .split(/\r?\n/)
    .slice(0, 5)
    .filter((line) => line !== "");
  return [",", ";", "\t"].some((mark) => {
    const counts = new Set(lines.map((line) => line.split(mark).length));
    return lines.length > 2 && counts.size === 1 && !counts.has(1);
  });
}

/**
 * Parses the first rows of text that is separated by commas, semicolons or tabs. Quoted cells may contain separators.
 */
export function parseCsv(text: string, maxRows: number): string[][] {
  const [head = ""] = text.split("\n", 1);
  const mark = [",", ";", "\t"].reduce((best, one) => (head.split(one).length > head.split(best).length ? one : best));
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at <= text.length && rows.length < maxRows) {
    const { cell, end } = readCell(text, at, mark);
    row.push(cell);
    if (text[end] !== mark) {
      if (row.length > 1 || row[0] !== "") rows.push(row);
      row = [];
    }
    at = text[end] === "\r" && text[end + 1] === "\n" ? end + 2 : end + 1;
  }
  return rows;
}

function readCell(text: string, start: number, mark: string): { cell: string; end: number } {
  if (text[start] !== '"') {
    let end = start;
    while (end < text.length && text[end] !== mark && text[end] !== "\n" && text[end] !== "\r") end++;
    return { cell: text.slice(start, end), end };
  }
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  if (end < 0) return { cell: text.slice(start + 1), end: text.length };
  return { cell: text.slice(start + 1, end).replaceAll('""', '"'), end: end + 1 };
}
