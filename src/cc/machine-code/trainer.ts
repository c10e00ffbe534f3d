/** The server's side of a training: starts the process, and knows whether it is at work. */
import { type ChildProcess, spawn } from "node:child_process";
import { flagsFor } from "../../v8/flags.ts";
import type { KeptCode } from "./kept-code.ts";

export class Trainer {
  readonly #kept: KeptCode;
  readonly #words: readonly string[];
  #child: ChildProcess | undefined;

  /** The program, which is `training.ts`, and its arguments. */
  constructor(kept: KeptCode, words: readonly string[]) {
    this.#kept = kept;
    this.#words = words;
  }

  get isAtWork(): boolean {
    return this.#child !== undefined;
  }

  /** Does nothing where there is code, or where there cannot be any. `ended` is called when the process is over. */
  start(ended: () => void): void {
    if (this.#child !== undefined || !this.#kept.isMissing) return;
    const words = [...flagsFor("run the compiler"), ...this.#words];
    // The pipe tells the process when this one ends.
    const child = spawn(process.execPath, words, { stdio: ["pipe", "ignore", "ignore"] });
    this.#child = child;
    const over = (code: number | null): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      // Once is enough: what broke down will break down again.
      if (code !== 0) this.#kept.giveUp();
      ended();
    };
    child.stdin.on("error", () => {});
    child.on("exit", over);
    child.on("error", () => over(1));
  }

  stop(): void {
    const child = this.#child;
    this.#child = undefined;
    child?.kill("SIGKILL");
  }
}
