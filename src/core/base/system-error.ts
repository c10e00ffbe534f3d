/** Errors of the operating system as text for people. */
export function describeSystemError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const known: Record<string, string> = {
    EACCES: "permission denied",
    EDQUOT: "the disk quota is used up",
    EFBIG: "the file may not become larger",
    EISDIR: "it is a folder",
    EMFILE: "this process has too many open files (ulimit -n)",
    ENAMETOOLONG: "the name is too long",
    ENFILE: "the machine has too many open files",
    ENOENT: "its folder does not exist",
    ENOSPC: "the disk is full",
    ENOTDIR: "its folder is a file",
    EROFS: "the file system is read-only",
  };
  return known[codeOf(error)] ?? error.message;
}

/** Did a write fail because the disk or the quota is full? */
export function isFull(error: Error): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes(codeOf(error));
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : "";
}
