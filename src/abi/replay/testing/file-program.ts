/** A program that does everything there is to do with files, for tests in which processes crash in the middle of it. */
import { join } from "node:path";
import type { Files } from "../../../wasi/ports.ts";

/** Thrown inside a call, which has been done, or not, or half. */
export class Crash extends Error {}

export const text = (words: string): Uint8Array => new TextEncoder().encode(words);
export const how = (given: Partial<Record<"read" | "write" | "create" | "exclusive" | "truncate", boolean>>) => ({
  read: false,
  write: false,
  create: false,
  exclusive: false,
  truncate: false,
  append: false,
  ...given,
});

/** Does everything once; what it is told decides what it writes. */
export function program(files: Files, folder: string): void {
  const path = (name: string): string => join(folder, name);
  const log = files.open(path("log"), how({ write: true, create: true }));
  const append = (line: string): void => {
    files.write(log, text(line), Number(files.statOpen(log).size));
  };
  append("one\n");
  append("two\n");
  files.rename(path("log"), path("old"));
  append("three, in the old one\n");
  files.makeDirectory(path("folder"));
  files.close(files.open(path("folder/new"), how({ write: true, create: true, exclusive: true })));
  append(`${files.list(path("folder")).length} files\n`);
  files.remove(path("folder/new"));
  try {
    files.removeDirectory(path("nowhere"));
    append("a folder that was not there\n");
  } catch (error) {
    if (error instanceof Crash) throw error;
  }
  files.removeDirectory(path("folder"));
  const counter = files.open(path("counter"), how({ read: true, write: true, create: true }));
  for (let i = 0; i < 3; i++) {
    const bytes = new Uint8Array(10);
    const count = Number(new TextDecoder().decode(bytes.subarray(0, files.read(counter, bytes, 0)))) || 0;
    files.write(counter, text(String(count + 1)), 0);
  }
  files.truncate(log, 30);
  files.symlink("old", path("link"));
  files.link(path("old"), path("second"));
  files.close(log);
}
