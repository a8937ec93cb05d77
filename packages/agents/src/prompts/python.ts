/** What all code in a node's sandbox finds. */
export const pythonRule = `Answer with plain Python 3 in \`code\`: no markdown, no comments but where they are needed.
- The dict \`context\` holds the values described in \`context\`, under the same keys; \`json\` and \`base64\` are there \
without import. Bytes are \`bytes\`. What is not shown, secrets too, is there when the code runs.
- Import nothing but the standard library and \`packages\`.`;
