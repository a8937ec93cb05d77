import type { ValueShape } from "@nova/python";

/** When a guide is worth its tokens. Tasks and keys are `plainText`: lower case, no accents; English, Spanish, German. */
export interface Topic {
  guide: string;
  /** A task that says one of these is about the topic. */
  named: RegExp;
  /** A task that says one of these may be about it. */
  hinted: RegExp;
  /** Keys of the context that, with a hint, make it one. */
  keys: readonly RegExp[];
  /** Keys that show that an earlier node has done it: a hint means their values then. */
  done?: RegExp;
  /** Errors (in lower case) that name its modules, its exceptions or its mistakes. */
  errors: RegExp;
}

/** What amounts and dates are read from. */
const readable = key(
  "text, ocr, content, body, html, line*, mail, email, pdf, csv, invoice, texto, contenido, factura, inhalt, *rechnung",
  ...(["string", "bytes", "object"] as const),
);

/** In the order in which equally good guides are taken. */
export const topics: readonly Topic[] = [
  {
    guide: "imap",
    named: words(
      "imap, inbox, mailbox, unread, bandeja de entrada, buzon, no leido*, postfach, posteingang, ungelesen*",
    ),
    hinted: words(`read … *mail*, fetch … *mail*, check … *mail*, get … *mail*, new *mail*, incoming *mail*,
      lee* … correo*, recib* … correo*, descarga* … correo*, correos nuevos, nuevos correos,
      lies … *mail*, lese* … *mail*, hol* … *mail*, *mail* … abrufen, neue* *mail*`),
    keys: [key("imap")],
    errors: words("imaplib*, imap4*"),
  },
  {
    guide: "smtp",
    named:
      words(`smtp, send* … *mail*, reply … *mail*, forward … *mail*, envi* … *mail*, manda* … *mail*, respond* … *mail*,
      envi* … correo*, manda* … correo*, responde* … correo*, correo* … enviar,
      schick* … *mail*, versend* … *mail*, verschick* … *mail*, *mail* … senden, *mail* … schicken, *mail* … versenden`),
    hinted: words(`notify, notification, recipient*, notifica*, avisa*, destinatario*, benachrichtig*, empfanger`),
    keys: [key("smtp")],
    errors: words("smtplib, smtp*error, smtp*refused, smtp*disconnected, smtp*exception"),
  },
  {
    guide: "pdf",
    named: words("pdf, pdfs, pymupdf, fitz"),
    hinted:
      words(`extract*, read, parse, find, get, summar*, classify, document*, invoice*, receipt*, contract*, page*, scan*,
      extrae*, extraer, lee*, busca*, obten*, resum*, clasific*, factura*, recibo*, contrato*, pagina*, adjunto*,
      extrahier*, auslesen, lies, lese*, finde*, ermittle*, dokument*, *rechnung*, beleg*, vertrag*, seite*, anhang*`),
    keys: [
      key("pdf, pdfs", "string", "bytes", "list", "object"),
      key("attachment*, document*, invoice*, receipt*, contract*, file*, scan*", "bytes"),
      key("adjunto*, factura*, recibo*, archivo*, dokument*, *rechnung*, beleg*, anhang*, datei*", "bytes"),
    ],
    done: key("text, ocr, texto", "string"),
    errors: words("pymupdf, fitz, filedataerror, emptyfileerror, mupdf"),
  },
  {
    guide: "postgres",
    named: words("postgres*, psycopg*, sql, database, base de datos, datenbank*, jsonb, upsert"),
    hinted: words(
      "table*, row*, insert, query, select, tabla*, fila*, inserta*, consulta*, tabelle*, zeile*, abfrage*",
    ),
    keys: [key("db host, db name, db user, db url, database url, dsn, postgres*")],
    errors: words("psycopg*, undefinedtable, undefinedcolumn, uniqueviolation, notnullviolation, programmingerror"),
  },
  {
    guide: "http",
    named: words("http, https, api, apis, endpoint*, webhook*, url, urls, graphql"),
    hinted: words("download*, post, web*, service, descarga*, servicio, pagina web, dienst, herunterlad*"),
    keys: [key("url, endpoint, webhook, api key, api token, api base")],
    errors: words(`requests, urllib*, missingschema, invalidurl, toomanyredirects, readtimeout, httperror,
      client error, server error`),
  },
  {
    guide: "csv",
    named: words("csv, csvs, tsv, pandas, dataframe*, delimiter, semicolon.separated, comma.separated, tab.separated"),
    hinted: words(`table*, column*, row*, group, aggregate, pivot, tabla*, columna*, fila*, agrupa*,
      tabelle*, spalte*, zeile*, gruppier*`),
    keys: [key("csv, tsv")],
    errors: words("pandas, numpy, series, dataframe, parsererror, emptydataerror, _csv, csv.error, unicodedecodeerror"),
  },
  {
    guide: "excel",
    named: words("excel*, xls, xlsx, xlsm, openpyxl, workbook*, hoja* de calculo, arbeitsmappe"),
    hinted: words("spreadsheet*, sheet*, table*, hoja*, tabla*, tabelle*"),
    keys: [key("xlsx, excel, workbook, spreadsheet")],
    errors: words("openpyxl, xlrd, badzipfile, read_excel"),
  },
  {
    guide: "images",
    named: words(`image*, photo*, picture*, thumbnail*, png, jpg, jpeg, pillow,
      imagen*, foto*, miniatura*, bild, bilder, bildern, grafik*`),
    hinted: words(`logo*, resize, crop, rotate, compress, recorta*, redimension*, gira*,
      zuschneid*, verkleiner*, dreh*`),
    keys: [key("image*, photo*, picture*, logo*, png, jpg, jpeg, foto*, bild, thumbnail", "bytes", "string")],
    errors: words("pil, pillow, unidentifiedimageerror, decompressionbomb*, cannot write mode"),
  },
  {
    guide: "money",
    named: words("currency, currencies, vat, moneda*, iva, wahrung*, mwst, mehrwertsteuer"),
    hinted: words(`amount*, total*, subtotal*, price*, cost*, payment*, euro*, eur, usd,
      importe*, precio*, coste*, pago*, *betrag, *betrage, *summe*, preis*, kosten`),
    keys: [readable, key("amount*, total*, price*, importe*, precio*, *betrag, *betrage, preis*", "string", "list")],
    done: key("amount*, total*, price*, importe*, precio*, *betrag, preis*", "number", "integer"),
    errors: words(
      "could not convert string to float, invalid literal for int, invalidoperation, conversionsyntax, decimal",
    ),
  },
  {
    guide: "dates",
    named: words(`deadline*, overdue, due date*, weekday*, calendar, vencimiento*, vencido*, vencida*,
      falligkeit*, uberfallig*, frist*`),
    hinted: words(`date*, day*, week*, month*, fecha*, dia, dias, plazo*, semana*, mes, meses,
      *datum, tag, tage, tagen, woche*, monat*, fallig*`),
    keys: [readable, key("*date, due, issued, received, sent, fecha*, *datum", "string")],
    errors:
      words(`time data, does not match format, isoformat, offset-naive, offset-aware, strptime, zoneinfo, datetime,
      day is out of range, month must be in`),
  },
  {
    guide: "json",
    named: words("json"),
    hinted: words("payload, parse, nested, verschachtelt*"),
    keys: [key("json, payload", "string", "bytes")],
    errors:
      words(`jsondecodeerror, not json serializable, cannot be kept as json, expecting value, expecting property name,
      the json object must be`),
  },
];

/**
 * What matches any of some phrases, separated by commas, in `plainText`. `*` stands for the rest (or the beginning) of a
 * word, `…` for what lies between two words of a sentence: `send* … mail*`.
 */
export function words(phrases: string): RegExp {
  return new RegExp(`\\b(?:${alternatives(phrases)})\\b`);
}

/** Keys (`name: type`) one of whose words is among `names`; of any type where none is given. */
export function key(names: string, ...types: ValueShape["type"][]): RegExp {
  return new RegExp(`\\b(?:${alternatives(names)})\\b[^:]*: (?:${types.join("|") || "\\w+"})$`);
}

function alternatives(phrases: string): string {
  return phrases
    .split(",")
    .map((phrase) => phrase.trim().replace(/\s+/g, " ").replaceAll("*", "\\w*").replaceAll(" … ", "\\b[^.;]{0,50}\\b"))
    .filter(Boolean)
    .join("|");
}
