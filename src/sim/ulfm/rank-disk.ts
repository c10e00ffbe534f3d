/** The files of one rank of a repairing program, on the disk of the simulated job. The tasks on them are those of programs in C. */
import { type CFile, NoFile } from "../../abi/files/file.ts";
import type { FileUser } from "../../abi/files/file-user.ts";
import { ProgramFiles } from "../../abi/files/program-files.ts";
import { Handles, Kind } from "../../abi/handles/handles.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { Descriptors } from "../../wasi/descriptors.ts";
import type { FileSystem } from "../outside/file-system.ts";
import type { SimProcess } from "../sim-process.ts";

export class RankDisk implements FileUser {
  readonly disk: ProgramFiles;
  readonly files = new Handles<CFile>({ kind: Kind.FILE, name: "file", errorClass: ErrorClass.FILE });
  readonly noFile = new NoFile();
  readonly operations: FileUser["operations"];

  constructor({ core }: SimProcess, system: FileSystem) {
    const descriptors = new Descriptors(system, [{ name: ".", path: "/job" }]);
    this.disk = new ProgramFiles({ files: system, descriptors, run: "simulated" });
    this.operations = {
      freeCommunicator: (comm) => core.freeCommunicator(comm),
      failedOf: (comm) => core.failures.of(comm),
      look: () => void core.progress(),
    };
  }
}
