import type { Command } from "commander";

/** Makes one command of `banyan`. The command calls `finished` with its exit code when it has run. */
export type CreateCommand = (finished: (code: number) => void) => Command;
