/**
 * Files that several ranks of a simulated job have open together, and what ranks wrote and read there in the history that counts in the
 * end: a later life that writes a record again says what the record is now.
 */
import { membersOf } from "../script/communicator-plan.ts";
import type { Script } from "../script/script.ts";
import { contentsHash, endOfPhase, placeIn, recordBytes, type SharedFilePhase } from "../script/shared-file-plan.ts";
import type { FileSystem } from "./file-system.ts";

export const sharedFolder = "/together";
export const sharedName = (file: number): string => `file-${file}`;

interface RecordPlace {
  readonly file: number;
  readonly phase: number;
  /** In the file's communicator. */
  readonly member: number;
  readonly index: number;
}

interface Prefix {
  readonly file: number;
  readonly bytes: number;
  readonly hash: number;
}

const keyOf = ({ file, phase, member, index }: RecordPlace): string => `${file} ${phase} ${member} ${index}`;

export class SharedFiles {
  readonly system: FileSystem;
  /** Records written and prefixes read, in all lives. */
  readonly counts = { written: 0, read: 0 };
  readonly #written = new Map<string, string>();
  readonly #read = new Map<string, Prefix>();

  constructor(system: FileSystem) {
    this.system = system;
  }

  wrote(place: RecordPlace, text: string): void {
    this.counts.written++;
    this.#written.set(keyOf(place), text);
  }

  /** A rank has read a prefix; `use` is the number of the action. */
  read(rank: number, use: number, prefix: Prefix): void {
    this.counts.read++;
    this.#read.set(`${rank} ${use}`, prefix);
  }

  /** Violations of the plans, but for files of which a member is dead. */
  problems({ sharedFiles, communicators }: Script, dead: ReadonlySet<number>): string[] {
    const [excused, judged] = [new Set<number>(), new Set<number>()];
    for (const { number, communicator } of sharedFiles) {
      const isExcused = membersOf(communicators[communicator]!).some((rank) => dead.has(rank));
      (isExcused ? excused : judged).add(number);
    }
    const isKnown = (path: string): boolean =>
      [...judged].some((file) => path === pathOf(file)) || [...excused].some((file) => path.includes(sharedName(file)));
    const left = this.system.paths().filter((path) => path.startsWith(`${sharedFolder}/`) && !isKnown(path));
    return [
      ...left.map((path) => `"${path}" is left over`),
      ...sharedFiles.flatMap(({ number, phases, size }) => {
        if (excused.has(number)) return [];
        const bytes = this.system.contentsOf(pathOf(number));
        if (bytes === undefined) return [`file ${number} is not there`];
        if (bytes.length !== size) return [`file ${number} has ${bytes.length} bytes instead of ${size}`];
        return phases.flatMap((phase, i) => this.#problemsOf(number, i, phase, bytes));
      }),
      ...[...this.#read].flatMap(([name, { file, bytes, hash }]) => {
        if (excused.has(file)) return [];
        const now = this.system.contentsOf(pathOf(file))?.subarray(0, bytes) ?? new Uint8Array(0);
        return contentsHash(now) === hash ? [] : [`action ${name} has read something else from file ${file}`];
      }),
    ];
  }

  #problemsOf(file: number, number: number, phase: SharedFilePhase, bytes: Uint8Array): string[] {
    const found = recordsOf(bytes.subarray(phase.start, endOfPhase(phase)));
    const wanted = phase.counts.flatMap((count, member) =>
      Array.from({ length: count }, (_, index) => ({
        member,
        text: this.#textOf({ file, phase: number, member, index }),
      })),
    );
    const where = `phase ${number} of file ${file}, written by ${phase.by}`;
    const missing = wanted.filter(({ text }) => !found.includes(text));
    if (missing.length > 0)
      return [`${where}: there is no ${JSON.stringify(missing[0]!.text)} in ${JSON.stringify(found)}`];
    if (phase.by !== "shared") {
      const place = ({ member }: { readonly member: number }, i: number): boolean =>
        placeIn(phase, member) <= phase.start + i * recordBytes;
      const isInPlace = wanted.every((record, i) => found[i] === record.text && place(record, i));
      return isInPlace ? [] : [`${where}: records are not in their places: ${JSON.stringify(found)}`];
    }
    const isInOrder = phase.counts.every((_, member) => {
      const places = wanted.filter((record) => record.member === member).map(({ text }) => found.indexOf(text));
      return places.every((place, i) => i === 0 || place > places[i - 1]!);
    });
    return isInOrder ? [] : [`${where}: the records of a member are not in its order: ${JSON.stringify(found)}`];
  }

  #textOf(place: RecordPlace): string {
    return this.#written.get(keyOf(place)) ?? `record ${place.index} of member ${place.member}, never written`;
  }
}

const pathOf = (file: number): string => `${sharedFolder}/${sharedName(file)}`;

function recordsOf(bytes: Uint8Array): string[] {
  const text = new TextDecoder().decode(bytes);
  return Array.from({ length: text.length / recordBytes }, (_, i) =>
    text.slice(i * recordBytes, (i + 1) * recordBytes),
  );
}
