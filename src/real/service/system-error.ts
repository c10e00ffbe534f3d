/** What the operating system says, in words. */
export function describeSystemError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const known: Record<string, string> = {
    EACCES: "permission denied",
    EISDIR: "it is a folder",
    ENOENT: "its folder does not exist",
    ENOSPC: "the disk is full",
    EROFS: "the file system is read-only",
  };
  const code = "code" in error ? String(error.code) : "";
  return known[code] ?? error.message;
}
