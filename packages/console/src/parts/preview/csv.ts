/** The first rows of a text with cells between commas, semicolons or tabs; quoted cells may hold any of them. */
export function csvRows(text: string, maxRows: number): string[][] {
  const [head = ""] = text.split("\n", 1);
  const mark = [",", ";", "\t"].reduce((best, one) => (head.split(one).length > head.split(best).length ? one : best));
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at <= text.length && rows.length < maxRows) {
    const { cell, end } = cellAt(text, at, mark);
    row.push(cell);
    if (text[end] !== mark) {
      if (row.length > 1 || row[0] !== "") rows.push(row);
      row = [];
    }
    at = text[end] === "\r" && text[end + 1] === "\n" ? end + 2 : end + 1;
  }
  return rows;
}

function cellAt(text: string, start: number, mark: string): { cell: string; end: number } {
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
