import type { JSX, ReactNode } from "react";
import "./sheet.css";

export interface Column<Item> {
  label: string;
  show(item: Item): ReactNode;
  /** Classes of `sheet.css`: `number`, `wide` (only where there is room), `fixed` (one line), `sheet-end` (buttons). */
  look?: string;
}

interface TableProps<Item> {
  /** Names it where nothing above does. */
  label?: string;
  items: readonly Item[];
  columns: readonly Column<Item>[];
  keyOf(item: Item): string;
  /** The row that the keyboard is at. */
  at?: number;
}

/** A table of what is not many. The label of a column of buttons is for those who do not see them. */
export function Table<Item>({ label: name, items, columns, keyOf, at }: TableProps<Item>): JSX.Element {
  return (
    <div className="sheet-box">
      <table className="sheet" aria-label={name}>
        <thead>
          <tr>
            {columns.map(({ label, look }) => (
              <th key={label} scope="col" className={look}>
                {look === "sheet-end" ? <span className="hidden-label">{label}</span> : label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item, index) => (
            <tr key={keyOf(item)} data-at={index === at || undefined}>
              {columns.map(({ label, look, show }, place) => (
                <td key={label} className={look} role={place === 0 ? "rowheader" : undefined}>
                  {show(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
