import { fileURLToPath } from "node:url";

/** The folder that contains `nova_harness`, for a Python process that preloads it. */
export const pythonFolder = fileURLToPath(new URL("../python", import.meta.url));

/** A Python script that indexes the docstrings of installed packages: `docstrings.py [pip requirement ...]`. */
export const docstringsScript = fileURLToPath(new URL("../template/docstrings.py", import.meta.url));
