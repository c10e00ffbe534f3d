/**
 * Folders that are not needed any more are removed. A thread of a node may still be writing into one, because the life it writes for
 * has just fallen: then the removal fails, and is tried again a little later. What is left at the end goes with the job's folder.
 */
import { rmSync } from "node:fs";

const againMs = 200;
const triesMax = 50;

export class Removals {
  readonly #remove: (folder: string) => void;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(remove = (folder: string): void => rmSync(folder, { recursive: true, force: true })) {
    this.#remove = remove;
  }

  remove(folder: string, tries = triesMax): void {
    try {
      this.#remove(folder);
    } catch {
      if (tries > 1) this.#later(folder, tries - 1);
    }
  }

  /** Nothing is tried again. */
  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #later(folder: string, tries: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.remove(folder, tries);
    }, againMs);
    this.#timers.add(timer);
  }
}
