/**
 * Programs whose names are not UTF-8. JavaScript's strings cannot hold such a name: Node replaces each unreadable byte by
 * U+FFFD. The system still knows the bytes that were typed. So the file is found by its bytes and copied, under a UTF-8 name,
 * into a folder of its own. Files beside the program are linked into that folder, because programs include and import them.
 */
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSystemError } from "../core/base/system-error.ts";
import { CommandError } from "./complain.ts";

const unreadable = "\ufffd";
const slash = "/".charCodeAt(0);

/**
 * A path under which the program can be read: the given path, unless Node could not read it. A copy is removed when this
 * process ends.
 */
export function sayable(program: string): string {
  if (!program.includes(unreadable) || statSync(program, { throwIfNoEntry: false }) !== undefined) return program;
  const typed = wordsTyped().find((word) => word.toString() === program);
  if (typed === undefined || !isFile(typed)) return program;
  const split = typed.lastIndexOf(slash) + 1;
  const [folder, name] = [wholeFolder(typed.subarray(0, split)), typed.subarray(split)];
  if (folder.toString().includes(unreadable)) {
    throw new CommandError(`Cannot run ${program}: the name of its folder is not UTF-8; rename the folder`, 1);
  }
  try {
    return copied(folder.toString(), name);
  } catch (error) {
    throw new CommandError(
      `Cannot run ${program}: its name is not UTF-8, and ${describeSystemError(error)}; rename it`,
      1,
    );
  }
}

function copied(folder: string, name: Buffer): string {
  const place = mkdtempSync(join(tmpdir(), "banyan-"));
  process.on("exit", () => rmSync(place, { recursive: true, force: true }));
  const path = join(place, name.toString().replaceAll(unreadable, "_"));
  copyFileSync(inside(folder, name), path);
  for (const neighbour of readdirSync(folder, { encoding: "buffer" })) {
    const isTaken = neighbour.equals(name) || join(place, neighbour.toString()) === path;
    if (!isTaken) symlinkSync(inside(folder, neighbour), inside(place, neighbour));
  }
  return path;
}

const inside = (folder: string, name: Buffer): Buffer => Buffer.concat([Buffer.from(`${folder}/`), name]);

/** The absolute path of a folder. */
function wholeFolder(folder: Buffer): Buffer {
  if (folder[0] === slash) return folder;
  return Buffer.concat([readlinkSync("/proc/self/cwd", { encoding: "buffer" }), Buffer.from("/"), folder]);
}

/** The arguments of the command line as bytes; none where the system does not provide them. */
function wordsTyped(): Buffer[] {
  let line: Buffer;
  try {
    line = readFileSync("/proc/self/cmdline");
  } catch {
    return [];
  }
  const words: Buffer[] = [];
  for (let from = 0; from < line.length; ) {
    const to = line.indexOf(0, from);
    words.push(line.subarray(from, to < 0 ? line.length : to));
    if (to < 0) break;
    from = to + 1;
  }
  return words;
}

function isFile(path: Buffer): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
