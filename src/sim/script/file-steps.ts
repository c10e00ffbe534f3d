/** The actions on files as calls of a file system: done by a rank of a script, and once more by the checker. */
import { renamed } from "../../abi/replay/replayed-files.ts";
import { WasiError } from "../../wasi/errno.ts";
import type { Files, OpenHow } from "../../wasi/ports.ts";
import { mixed } from "./mixed-number.ts";
import type { FileOp } from "./script.ts";

/** A file that stays open: plain data, and in each life a handle. */
interface OpenLog {
  path: string;
  offset: number;
}

export const newLog = (): OpenLog => ({ path: "", offset: 0 });

interface FileStep {
  readonly op: FileOp;
  readonly folder: string;
  /** The bytes that it writes. */
  readonly text: string;
  readonly log: OpenLog;
}

/** Yields one call after the other, and is given its result; returns the program's answer. */
type FileSteps = Generator<(files: Files) => unknown, readonly number[], unknown>;

const how = (given: Partial<OpenHow>): OpenHow => ({
  read: true,
  write: true,
  create: false,
  exclusive: false,
  truncate: false,
  append: false,
  ...given,
});

export function* fileSteps({ op, folder, text, log }: FileStep): FileSteps {
  const path = `${folder}/${op.name}`;
  const bytes = new TextEncoder().encode(text);
  switch (op.does) {
    case "write":
    case "create": {
      const exclusive = op.does === "create";
      const handle = (yield (files) =>
        files.open(path, how({ create: true, exclusive, truncate: !exclusive }))) as number;
      yield (files) => files.write(handle, bytes, 0);
      yield (files) => files.close(handle);
      return [];
    }
    case "append": {
      const handle = (yield (files) => files.open(path, how({ create: true }))) as number;
      const size = (yield (files) => Number(files.statOpen(handle).size)) as number;
      yield (files) => files.write(handle, bytes, size);
      yield (files) => files.close(handle);
      return [size];
    }
    case "read": {
      const handle = (yield (files) => files.open(path, how({ write: false }))) as number;
      const room = new Uint8Array(200);
      const got = (yield (files) => files.read(handle, room, 0)) as number;
      yield (files) => files.close(handle);
      return [got, mixed(...room.subarray(0, got))];
    }
    case "truncate": {
      const handle = (yield (files) => files.open(path, how({}))) as number;
      yield (files) => files.truncate(handle, 10);
      yield (files) => files.close(handle);
      return [];
    }
    case "rename":
      yield (files) => files.rename(path, `${folder}/${op.to}`);
      return [];
    case "remove":
      yield (files) => files.remove(path);
      return [];
    case "log": {
      if (log.path === "") {
        log.path = `${folder}/log`;
        yield (files) => files.close(files.open(log.path, how({ create: true })));
      }
      // As after a restore, in every life and every time.
      const handle = (yield (files) => files.reopen(log.path, how({}))) as number;
      yield (files) => files.write(handle, bytes, log.offset);
      log.offset += bytes.length;
      yield (files) => files.close(handle);
      return [];
    }
    case "rename-log": {
      if (log.path === "") return [];
      const to = `${folder}/${log.path.endsWith("log") ? "old" : "log"}`;
      yield (files) => files.rename(log.path, to);
      log.path = renamed(log.path, log.path, to);
      return [];
    }
  }
}

/** The whole file at once. */
export function runSteps(files: Files, step: FileStep): readonly number[] {
  const steps = fileSteps(step);
  try {
    for (let next = steps.next(); ; next = steps.next(next.value(files))) if (next.done === true) return next.value;
  } catch (error) {
    return [errorTold(error)];
  }
}

/** The program's answer to an error of the system; other errors are bugs. */
export function errorTold(error: unknown): number {
  if (!(error instanceof WasiError)) throw error;
  return -error.errno;
}
