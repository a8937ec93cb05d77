import { fileURLToPath } from "node:url";

/** The folder of the harness's Python, `nova_harness`: for a Python that loads it ahead. */
export const pythonFolder = fileURLToPath(new URL("../python", import.meta.url));

/** Python that writes an index of the docstrings of what is installed: `docstrings.py [pip requirement ...]`. */
export const docstringsScript = fileURLToPath(new URL("../template/docstrings.py", import.meta.url));
