import { defined } from "@nova/workflow/defined";
import { demandAllClients } from "../access/authenticate.ts";
import type { Principal } from "../ports/access.ts";
import type { FormatPage, StoredFormat } from "../ports/archive.ts";
import type { ServicePorts } from "../ports/index.ts";

type SurveyPorts = Pick<ServicePorts, "formats">;

/** Megabytes of the table read for one answer, which takes some seconds. */
const maxPages = 16;

/** Counts the formats in a part of the table. Throws `Forbidden`. */
export async function surveyPart(ports: SurveyPorts, by: Principal, after?: string): Promise<FormatPage> {
  demandAllClients(by);
  return survey(ports, maxPages, after);
}

/** Counts the formats in the whole table. */
export async function surveyAll(ports: SurveyPorts): Promise<StoredFormat[]> {
  return (await survey(ports, Number.POSITIVE_INFINITY)).formats;
}

async function survey({ formats }: SurveyPorts, pages: number, after?: string): Promise<FormatPage> {
  const found: StoredFormat[] = [];
  let cursor = after;
  for (let page = 0; page < pages; page++) {
    const part = await formats.page(cursor);
    found.push(...part.formats);
    cursor = part.cursor;
    if (cursor === undefined) break;
  }
  return { formats: sumFormats(found), ...defined({ cursor }) };
}

/** Sums up to one row for each kind and format, sorted by name. */
export function sumFormats(parts: Iterable<StoredFormat>): StoredFormat[] {
  const sums = new Map<string, StoredFormat>();
  for (const part of parts) {
    const name = `${part.entity} ${part.format}`;
    sums.set(name, { ...part, items: part.items + (sums.get(name)?.items ?? 0) });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}
