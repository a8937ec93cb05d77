/** What a generation depends on besides the workflow: the pipeline as it is today. */
export interface Generator {
  /** Changes when prompts, checks or agents change so that other code would be written. */
  version: string;
  /** What every request to the model that writes code asks for, besides its id. */
  settings: string;
  /** SHA-256 of a guide's text; undefined where there is no such guide any more. */
  guideHash(name: string): string | undefined;
}

/**
 * What every sandbox has, whatever it is called where it runs: ids of templates differ between a laptop and an account,
 * and code that was locked here is to run there. A test compares it with the template's own list.
 */
export const baseTemplate = "pillow, psycopg[binary], pymupdf, pandas, requests";

/**
 * SHA-256 of the text of every guide. In the code, and not read from the shelf: what is frozen asks which guides have
 * changed since, and may be deployed without them. A test compares it with the shelf.
 */
export const guideHashes: Readonly<Record<string, string>> = {
  csv: "f18e230d5c1280a7fab4512e9d5af6c804e68b8d67f0423813df3b3f505f8d59",
  dates: "b70d2f8468150346e2d0812fd368e6199fb9c11f114207c98d5838e5a20ba1d5",
  excel: "b0761b13741b1c44ac0afc96995518c0a7b966614777ce9462a6ad5daffddeb1",
  http: "9aa6e8a63adec7d866d48e2a9dd996feb5058ad360cb8a9c517748bd7a623a3b",
  images: "fbd8c31efc1e44dd2af22c3d403f849cd1c64b71131e04d3b138be68d75a4c03",
  imap: "6d0100fb237ce6b865a97c7aacb6e33dbd5f03b2047ab3a1e218196da3838609",
  json: "82c1d1dfd6290f5b387f96bc3baca2f3c4b6e6751af2b1d57f834e321c90e0a5",
  money: "a76c9b0b2bac11b4f1f4444b1f4aaab1e12c0577ba0cfc8224fb3006656f5e0b",
  pdf: "958a40338baf597cf5bc7860e0076ab9257ec016c561ac67210c302925044b01",
  postgres: "d4fce727466574a0de753e7351cff45492bcb67f22bb5080088e32ee720df45c",
  smtp: "75f44f30cda360c493d71bef7426f09e402f7ba5dff77f6467cebcf16d097ad1",
};

/**
 * This release's. Raise `version` when agents, prompts or checks change so much that code should be written again: every
 * lock file is stale then, and every frozen deployment stops. Requests ask for nothing but the model's own defaults.
 */
export const currentGenerator: Generator = {
  version: "1",
  settings: "default",
  guideHash: (name) => (Object.hasOwn(guideHashes, name) ? guideHashes[name] : undefined),
};
