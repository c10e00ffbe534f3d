/**
 * The files of one rank, in one life: the C library's and MPI's, by the code that ships. Under a protocol that replays they go through
 * `ReplayedFiles`, as for C programs.
 */
import { addressMin } from "../../abi/arguments/buffers.ts";
import type { Access } from "../../abi/files/access.ts";
import { type CFile, NoFile } from "../../abi/files/file.ts";
import type { FileUserWithMemory } from "../../abi/files/file-user.ts";
import { ProgramFiles } from "../../abi/files/program-files.ts";
import type { Together } from "../../abi/files/together.ts";
import { Handles, Kind } from "../../abi/handles/handles.ts";
import { ReplayedFiles, type ReplayedFilesOptions } from "../../abi/replay/replayed-files.ts";
import { assert } from "../../core/base/assert.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { lives, saves } from "../../core/base/saved-classes.ts";
import type { Operations } from "../../core/binding/operations.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { Process } from "../../core/process/process.ts";
import { type Creation, Task } from "../../core/process/task.ts";
import { Descriptors } from "../../wasi/descriptors.ts";
import type { Files } from "../../wasi/ports.ts";
import { beganMs } from "../outside/rank-files.ts";
import { sharedFolder } from "../outside/shared-files.ts";
import type { SimProcess } from "../sim-process.ts";
import { RepeatedCalls } from "./repeated-calls.ts";

/** Another replay of files than the real one, for tests that want to see it fail. */
export type NewFiles = (options: ReplayedFilesOptions) => Files;

const dataAt = addressMin;
const dataBytesMax = 1 << 16;

const replayedFiles: NewFiles = (options) => new ReplayedFiles(options);

interface ScriptFilesOptions {
  readonly process: SimProcess;
  readonly operations: Operations;
  readonly system: Files;
  /** The number of the rank's next effect that is no message. */
  nextWrite(): number;
  readonly newFiles?: NewFiles | undefined;
}

export class ScriptFiles implements FileUserWithMemory {
  static readonly unsaved = { bytes: null, calls: null, port: null, disk: null, operations: null };
  /** Data on its way to a file or from one, in one call. Programs in C have it in their memory, where low addresses are none. */
  readonly bytes = new Uint8Array(dataAt + dataBytesMax);
  readonly calls = new RepeatedCalls();
  readonly port: Files;
  readonly descriptors: Descriptors;
  readonly disk: ProgramFiles;
  readonly operations: FileUserWithMemory["operations"];
  readonly noFile = new NoFile();
  readonly call = "a call of a script";
  readonly files = new Handles<CFile>({ kind: Kind.FILE, name: "file", errorClass: ErrorClass.FILE });
  /** By the number of the file's plan. */
  private readonly opened = new Map<number, CFile>();

  constructor({ process, operations, system, nextWrite, newFiles = replayedFiles }: ScriptFilesOptions) {
    const { calls } = this;
    const { protocol, choices } = process.core;
    this.port =
      protocol === null || choices === null || protocol.operations !== null
        ? system
        : calls.files(
            newFiles({
              files: calls.files(system),
              choices: calls.choices(choices),
              mayLeave: () => {
                const write = calls.once(() => ({ kind: "file", number: nextWrite() }) as const);
                calls.waitUntil("a file to be changed", () => protocol.writeMayLeave(write));
              },
              beganMs,
            }),
          );
    this.descriptors = new Descriptors(this.port, [{ name: ".", path: sharedFolder }]);
    this.disk = new ProgramFiles({ files: this.port, descriptors: this.descriptors, run: "simulated" });
    this.operations = {
      look: () => calls.pause(),
      failedOf: (comm) => operations.failedOf(comm),
      freeCommunicator: (comm) => operations.freeCommunicator(comm),
    };
  }

  /** For an access of that many bytes. */
  access(kind: Access["kind"], count: number): Access {
    assert(count <= dataBytesMax, `${count} bytes of a file at once`);
    return { kind, address: dataAt, count, type: predefinedTypes.BYTE };
  }

  /** The data of the access that is about to be made, or was made last. */
  data(count: number): Uint8Array {
    return this.bytes.subarray(dataAt, dataAt + count);
  }

  open(number: number, file: CFile): void {
    this.opened.set(number, file);
  }

  close(number: number): void {
    this.opened.delete(number);
  }

  has(number: number): boolean {
    return this.opened.has(number);
  }

  file(number: number): CFile {
    const file = this.opened.get(number);
    assert(file !== undefined, `a script uses file ${number}, which is not open`);
    return file;
  }
}

/** The members of a file do something together, and one of them may have to wait in a step. */
export class PatientTask extends Task {
  readonly inner: Together;
  private readonly owner: ScriptFiles;

  constructor(owner: ScriptFiles, inner: Together) {
    super();
    this.owner = owner;
    this.inner = inner;
  }

  override advance(process: Process): boolean {
    const { inner } = this;
    const isOver = this.owner.calls.attempt(
      () => inner.advance(process),
      () => inner.step,
    );
    this.error = inner.error;
    return isOver?.value === true;
  }

  override get creation(): Creation | null {
    return this.inner.creation;
  }

  override isStep(comm: Communicator, tag: number): boolean {
    return this.inner.isStep(comm, tag);
  }
}

lives({ ScriptFiles });
saves({ PatientTask });
