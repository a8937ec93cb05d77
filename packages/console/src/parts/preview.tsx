import { strFromU8, type UnzipFileInfo, unzipSync } from "fflate";
import { type JSX, useEffect, useMemo, useState } from "react";
import { texts } from "../texts.ts";
import { CodeLines } from "./code.tsx";
import { JsonView } from "./json-view.tsx";
import { Loading } from "./states.tsx";
import { UntrustedText } from "./untrusted-text.tsx";

interface PreviewProps {
  bytes: Uint8Array<ArrayBuffer>;
  name: string;
  type: string;
  /** Requests an address that serves the bytes as a PDF from another origin. */
  pdf(): Promise<string>;
}

const maxRows = 50;
const longestText = 100_000;

/**
 * Shows a preview of bytes without executing any script in them: an `img` element shows images, and another origin
 * serves PDFs.
 */
export function Preview({ bytes, name, type, pdf }: PreviewProps): JSX.Element {
  const kind = usePreviewKind(bytes, name, type);
  if (!kind) return <Loading lines={3} />;
  if (kind.as === "image") return <Picture bytes={bytes} type={kind.type} name={name} />;
  if (kind.as === "pdf") return <Pdf name={name} address={pdf} />;
  if (kind.as === "sheet") return <Sheet bytes={bytes} />;
  if (kind.as === "json") return <JsonView text={kind.text} />;
  if (kind.as === "csv") return <Table rows={parseCsv(kind.text)} />;
  if (kind.as === "text") return <CodeLines code={kind.text.slice(0, longestText)} />;
  return <p className="quiet">{texts.preview.none}</p>;
}

/** Detects the kind in a separate task, because the detection reads megabytes. */
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
  return <>{address && <img className="preview-picture well" src={address} alt={name} />}</>;
}

function Pdf({ name, address }: { name: string; address(): Promise<string> }): JSX.Element {
  const [url, setUrl] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address stays valid longer than the preview is open
  useEffect(() => {
    address().then(setUrl, () => undefined);
  }, []);
  return <>{url && <iframe className="preview-pdf well" src={url} title={name} referrerPolicy="no-referrer" />}</>;
}

function Sheet({ bytes }: { bytes: Uint8Array<ArrayBuffer> }): JSX.Element {
  const rows = useMemo(() => readSheet(bytes), [bytes]);
  return rows ? <Table rows={rows} /> : <p className="quiet">{texts.preview.none}</p>;
}

function Table({ rows }: { rows: readonly (readonly string[])[] }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
    <div className="preview-table well" tabIndex={0} role="group" aria-label={texts.preview.table(rows.length)}>
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
type PreviewKind =
  | { as: "image"; type: string }
  | { as: "csv" | "json" | "text"; text: string }
  | { as: "pdf" | "sheet" | "none" };

/** Magic numbers of file formats. */
const magicNumbers: [bytes: readonly number[], kind: PreviewKind][] = [
  [[0x89, 0x50, 0x4e, 0x47], { as: "image", type: "image/png" }],
  [[0xff, 0xd8, 0xff], { as: "image", type: "image/jpeg" }],
  [[0x47, 0x49, 0x46, 0x38], { as: "image", type: "image/gif" }],
  [[0x25, 0x50, 0x44, 0x46, 0x2d], { as: "pdf" }],
  [[0x50, 0x4b, 0x03, 0x04], { as: "sheet" }],
];

/** Detects the kind from the content, because a declared type cannot be trusted. */
function detectKind(bytes: Uint8Array, name: string, type: string): PreviewKind {
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

/**
 * Maximum length of a text that is parsed to find out whether it is JSON. Parsing a longer text would block the page.
 */
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

/** Returns whether the first lines contain the same number of separators. */
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
function parseCsv(text: string): string[][] {
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

/** Maximum size of an unpacked file. A larger file is left out, because a small archive may expand to any size. */
const maxPartBytes = 8 * 1024 * 1024;
const stringsName = "xl/sharedStrings.xml";

/** Reads the first rows of the first sheet of a workbook; undefined if the bytes are no workbook. */
function readSheet(bytes: Uint8Array): string[][] | undefined {
  try {
    const names: string[] = [];
    const listName = ({ name }: UnzipFileInfo) => {
      names.push(name);
      return false;
    };
    unzipSync(bytes, { filter: listName });
    const [sheet = ""] = names
      .filter((name) => /^xl\/worksheets\/sheet\d+\.xml$/.test(name))
      .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const isNeeded = ({ name, originalSize }: UnzipFileInfo) =>
      (name === sheet || name === stringsName) && originalSize <= maxPartBytes;
    const { [sheet]: cells, [stringsName]: strings } = unzipSync(bytes, { filter: isNeeded });
    return cells && readRows(parseXml(cells), strings ? readStrings(parseXml(strings)) : []);
  } catch {
    return undefined;
  }
}

function parseXml(bytes: Uint8Array): Document {
  return new DOMParser().parseFromString(strFromU8(bytes), "text/xml");
}

function readStrings(document: Document): string[] {
  return Array.from(document.getElementsByTagName("si"), (item) => item.textContent ?? "");
}

function readRows(sheet: Document, strings: readonly string[]): string[][] {
  return Array.from(sheet.getElementsByTagName("row"))
    .slice(0, maxRows)
    .map((row) => {
      const cells: string[] = [];
      for (const cell of row.getElementsByTagName("c")) {
        const column = parseColumn(cell.getAttribute("r") ?? "") ?? cells.length;
        if (column < maxColumns) cells[column] = readCellValue(cell, strings);
      }
      return Array.from(cells, (cell) => cell ?? "");
    });
}

const maxColumns = 200;

/** Returns the column of a cell, counted from 0: 2 for `C7`. */
function parseColumn(reference: string): number | undefined {
  const [letters] = /^[A-Z]{1,3}/.exec(reference) ?? [];
  return letters === undefined
    ? undefined
    : Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function readCellText(cell: Element, tag: string): string {
  return cell.getElementsByTagName(tag)[0]?.textContent ?? "";
}

function readCellValue(cell: Element, strings: readonly string[]): string {
  const type = cell.getAttribute("t");
  if (type === "inlineStr") return readCellText(cell, "is");
  const value = readCellText(cell, "v");
  return type === "s" ? (strings[Number(value)] ?? "") : value;
}
