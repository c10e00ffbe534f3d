/** Every command of `banyan`, one file each. A file's top level stays cheap: all of them are loaded to print the help. */
import type { Command } from "commander";
import { runCommand } from "./run.ts";

/** Makes the command; when it has run it hands over its exit code. */
export type CreateCommand = (finished: (code: number) => void) => Command;

export const commands: Readonly<Record<string, CreateCommand>> = {
  run: runCommand,
};
