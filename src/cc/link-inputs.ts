/** The linker's inputs on a command line, with their contents: compiled sources, objects, archives, libraries by name. */
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { assert, unreachable } from "../core/base/assert.ts";
import type { Build, Source } from "./command-line.ts";
import type { LinkInput } from "./link-step.ts";
import { librariesAlwaysThere } from "./options.ts";
import { outputOf } from "./output.ts";
import type { Made } from "./workshop.ts";

export function linkInputs(build: Build, compiled: ReadonlyMap<Source, Made>, cwd: string): LinkInput[] {
  return build.inputs.flatMap((input): LinkInput[] => {
    switch (input.kind) {
      case "source": {
        const made = compiled.get(input);
        assert(made?.kind === "made", `${input.path} was not compiled`);
        return [file(outputOf({ ...build, output: undefined }, input.path) ?? "-.o", made.output)];
      }
      case "file":
        return [file(input.path, readFileSync(resolve(cwd, input.path)))];
      case "library":
        return library(input.name, build.link.folders, cwd);
      case "linker-word":
        return [{ kind: "word", word: input.word }];
      default:
        return unreachable(input);
    }
  });
}

/** A library that no folder has is left to the linker, which knows those of the toolchain and reports all others. */
function library(name: string, folders: readonly string[], cwd: string): LinkInput[] {
  const wanted = name.startsWith(":") ? name.slice(1) : `lib${name}.a`;
  const found = folders.map((folder) => join(folder, wanted)).find((path) => isFile(resolve(cwd, path)));
  if (found !== undefined) return [file(found, readFileSync(resolve(cwd, found)))];
  return librariesAlwaysThere.has(name) ? [] : [{ kind: "word", word: `-l${name}` }];
}

function file(name: string, bytes: Uint8Array): LinkInput {
  return { kind: "file", file: { name, bytes } };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
