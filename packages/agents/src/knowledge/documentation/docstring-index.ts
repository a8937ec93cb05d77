import { z } from "zod";

/** What `docstrings.py` writes (format 1): a library's public functions, classes and methods in one version. */
export const DocstringIndex = z.object({
  format: z.literal(1),
  /** Day it was made. */
  built: z.string(),
  python: z.string(),
  libraries: z.record(
    z.string(),
    z.object({
      version: z.string(),
      /** Other names that the library goes by: what is imported, or what pip installs. */
      also: z.array(z.string()),
      /** Name, signature (empty for attributes), first lines of the documentation. */
      entries: z.array(z.tuple([z.string(), z.string(), z.string()])),
    }),
  ),
});
export type DocstringIndex = z.infer<typeof DocstringIndex>;

export interface Docstring {
  id: number;
  name: string;
  signature: string;
  text: string;
}
