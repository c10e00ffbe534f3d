/** Modules of which there can be no images, found without compiling them. */
import { existsSync, readFileSync } from "node:fs";
import { noCaptureText } from "../../../core/base/capture-points.ts";

/** Was that module linked with `--no-capture`? A file that cannot be read does not say so: whoever needs it says what is wrong with it. */
export function isWithoutCapture(module: string): boolean {
  try {
    return readFileSync(module).includes(noCaptureText);
  } catch {
    return false;
  }
}

/** The module of a running job, of which images are wanted by processes that will load it again. */
export class CapturedModule {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Empty: there is none. */
  get obstacle(): string {
    if (!existsSync(this.#path))
      return `its program is gone: ${this.#path}, which other processes would load; put it back`;
    return isWithoutCapture(this.#path) ? "its program was linked with --no-capture" : "";
  }
}
