/** A folder of its own for the files of test programs (../test-ranks.ts), which goes when the tests are over. */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filesOf } from "../../real/c-rank/node-files.ts";
import { Descriptors } from "../../wasi/descriptors.ts";
import { ProgramFiles } from "../files/program-files.ts";
import type { TestProgram } from "./program.ts";

export class TestDisk {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "banyan-files-")));
  /** What is in the folder, and nothing else. */
  readonly files = filesOf([{ name: ".", path: this.path }]);

  constructor() {
    process.on("exit", () => rmSync(this.path, { recursive: true, force: true }));
  }

  /** The folder is the program's current one. What it has open: part of its image. */
  giveTo({ program }: TestProgram, run = "test"): Descriptors {
    const descriptors = new Descriptors(this.files, [{ name: ".", path: this.path }]);
    program.disk = new ProgramFiles({ files: this.files, descriptors, run });
    return descriptors;
  }

  names(): string[] {
    return readdirSync(this.path).sort();
  }
}
