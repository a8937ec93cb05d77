/** Null for what was erased on request. */
export async function unlessErased<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Error && error.name === "BlobMissing") return null;
    throw error;
  }
}
