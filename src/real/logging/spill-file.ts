/**
 * Payloads of a rank's log that have no room in memory, in files of the job's folder. A handle is `<file>:<place>`: files are only
 * added to, so it is good in every later life of the rank, which writes files of its own. A file whose payloads have all been
 * dropped by the life that wrote it is removed; all others go with the job.
 *
 * Small payloads lie in a buffer first: there are many.
 */
import { closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { assert } from "../../core/base/assert.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { describeSystemError } from "../../core/base/system-error.ts";
import type { Spill } from "../../core/ft/logging/payload-memory.ts";

const fileBytesMax = 64 << 20;
const bufferBytes = 1 << 20;
/** Written from where they are. */
const largeBytes = 1 << 16;

interface Part {
  readonly name: string;
  readonly file: number;
  /** All records of the file, and those that have not been dropped. */
  bytes: number;
  /** Lengths of those that are kept, by place. */
  readonly kept: Map<number, number>;
}

interface SpillFileOptions {
  readonly folder: string;
  readonly rank: number;
  readonly incarnation: number;
}

export class SpillFile implements Spill {
  readonly #options: SpillFileOptions;
  readonly #parts = new Map<string, Part>();
  /** Of files of earlier lives, as far as they have been read. */
  readonly #old = new Map<string, number>();
  #current: Part | undefined;
  #buffer: Uint8Array[] = [];
  #bufferedBytes = 0;

  constructor(options: SpillFileOptions) {
    this.#options = options;
  }

  put(bytes: Uint8Array): string {
    const part = this.#room();
    const isLarge = bytes.length >= largeBytes;
    if (isLarge) this.flush();
    const place = part.bytes;
    if (isLarge) this.#write(part, bytes, place);
    part.kept.set(place, bytes.length);
    part.bytes += bytes.length;
    if (isLarge) return `${part.name}:${place}`;
    this.#buffer.push(bytes.slice());
    this.#bufferedBytes += bytes.length;
    if (this.#bufferedBytes >= bufferBytes) this.flush();
    return `${part.name}:${place}`;
  }

  #write({ file }: Part, bytes: Uint8Array, at: number): void {
    onDisk(this.#options.folder, () => {
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, at + done);
    });
  }

  get(handle: string, into: Uint8Array): void {
    const [name, place] = parse(handle);
    if (name === this.#current?.name) this.flush();
    const file = this.#parts.get(name)?.file ?? this.#openOld(name);
    // Shared memory: the system does not read into it.
    const bytes = new Uint8Array(into.length);
    let done = 0;
    while (done < bytes.length) {
      const got = readSync(file, bytes, done, bytes.length - done, place + done);
      assert(got > 0, `a payload of ${bytes.length} bytes at ${handle}`);
      done += got;
    }
    into.set(bytes);
  }

  drop(handle: string): void {
    const [name, place] = parse(handle);
    const part = this.#parts.get(name);
    if (part === undefined) return;
    part.kept.delete(place);
    if (part.kept.size > 0 || part === this.#current) return;
    this.#parts.delete(name);
    closeSync(part.file);
    rmSync(join(this.#options.folder, name), { force: true });
  }

  flush(): void {
    if (this.#current === undefined || this.#bufferedBytes === 0) return;
    const all = Buffer.concat(this.#buffer, this.#bufferedBytes);
    this.#write(this.#current, all, this.#current.bytes - all.length);
    this.#buffer = [];
    this.#bufferedBytes = 0;
  }

  #room(): Part {
    if (this.#current !== undefined && this.#current.bytes < fileBytesMax) return this.#current;
    this.flush();
    const full = this.#current;
    this.#current = this.#newPart();
    // It may be empty by now.
    if (full !== undefined && full.kept.size === 0) this.drop(`${full.name}:0`);
    return this.#current;
  }

  #newPart(): Part {
    const { folder, rank, incarnation } = this.#options;
    const name = `${rank}-${incarnation}-${this.#count++}`;
    const file = onDisk(folder, () => {
      mkdirSync(folder, { recursive: true });
      return openSync(join(folder, name), "w+");
    });
    const part: Part = { name, file, bytes: 0, kept: new Map() };
    this.#parts.set(name, part);
    return part;
  }
  #count = 0;

  #openOld(name: string): number {
    let file = this.#old.get(name);
    if (file === undefined) {
      file = openSync(join(this.#options.folder, name), "r");
      this.#old.set(name, file);
    }
    return file;
  }
}

/** A disk that takes no more is the world's fault: the program hears of it as of any other lack of room. */
function onDisk<T>(folder: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    const why = describeSystemError(error);
    throw new MpiError(
      ErrorClass.NO_SPACE,
      `Cannot keep in ${folder} what was sent: ${why}; make room, give more memory with --log-memory or take checkpoints`,
    );
  }
}

function parse(handle: string): [name: string, place: number] {
  const colon = handle.indexOf(":");
  return [handle.slice(0, colon), Number(handle.slice(colon + 1))];
}
