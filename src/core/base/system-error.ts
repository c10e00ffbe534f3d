/** What the operating system says, in words. */
export function describeSystemError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const known: Record<string, string> = {
    EACCES: "permission denied",
    EDQUOT: "the disk quota is used up",
    EFBIG: "the file may not become larger",
    EISDIR: "it is a folder",
    ENOENT: "its folder does not exist",
    ENOSPC: "the disk is full",
    ENOTDIR: "its folder is a file",
    EROFS: "the file system is read-only",
  };
  return known[codeOf(error)] ?? error.message;
}

/** Is there no room for what was to be written? */
export function isFull(error: Error): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes(codeOf(error));
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : "";
}
