/** WASI's form of a file's attributes. */
import type { ProgramBytes } from "./memory.ts";
import type { FileStat } from "./ports.ts";

export const FileType = { UNKNOWN: 0, CHARACTERS: 2, DIRECTORY: 3, FILE: 4, LINK: 7 } as const;

export function fileType(kind: FileStat["kind"]): number {
  if (kind === "file") return FileType.FILE;
  if (kind === "directory") return FileType.DIRECTORY;
  return kind === "link" ? FileType.LINK : FileType.UNKNOWN;
}

export function putStat(memory: ProgramBytes, at: number, stat: FileStat): void {
  memory.putU64(at, stat.device);
  memory.putU64(at + 8, stat.inode);
  memory.putU64(at + 16, BigInt(fileType(stat.kind)));
  memory.putU64(at + 24, stat.links);
  memory.putU64(at + 32, stat.size);
  memory.putU64(at + 40, stat.accessed);
  memory.putU64(at + 48, stat.modified);
  memory.putU64(at + 56, stat.changed);
}
