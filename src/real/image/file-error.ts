/** Errors of the disk and of the format, as one line that names the file. */
import { ImageError } from "../../image/image-error.ts";

/** Bugs of Banyan, and any other error, are returned unchanged. */
export function imageFileError(what: string, error: unknown): unknown {
  if (error instanceof ImageError) return new ImageError(`${what}: ${error.message}`);
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === undefined) return error;
  return new ImageError(`${what}: ${adviceOf(code) ?? (error as Error).message}`);
}

function adviceOf(code: string): string | undefined {
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full; make room or choose another folder for images";
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return "no permission; choose another folder for images";
    case "ENOENT":
      return "there is no such file or folder; check the path";
    default:
      return undefined;
  }
}
