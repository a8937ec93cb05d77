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
