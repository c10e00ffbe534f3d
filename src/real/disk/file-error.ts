/** Errors about files that Banyan finds itself, in the form of the system's: `code` says which. */
const texts = {
  EAGAIN: "it is made and removed all the time",
  EEXIST: "file already exists",
  EINVAL: "no file can be called that",
  EISDIR: "it is a folder",
  ELOOP: "it is a link, or too many links lead to it",
  ENAMETOOLONG: "the name is too long",
  ENOENT: "no such file or folder",
  ENOTCAPABLE: "it is in no folder that the program is given",
  ENOTDIR: "a part of the name is no folder",
  ENOTSUP: "it is neither a file nor a folder, or it is the kernel's",
} as const;
type FileErrorCode = keyof typeof texts;

export function fileError(code: FileErrorCode, path: string): Error {
  return Object.assign(new Error(`${code}: ${texts[code]}, "${path}"`), { code });
}

export function isFileError(error: unknown, ...codes: readonly FileErrorCode[]): boolean {
  return error instanceof Error && "code" in error && codes.some((code) => code === error.code);
}
