/** The parts of a program that its files use: a program in C has them, and so has whoever uses files without one. */
import type { Operations } from "../../core/binding/operations.ts";
import type { BufferOwner } from "../arguments/buffers.ts";
import type { Handles } from "../handles/handles.ts";
import type { CFile, NoFile } from "./file.ts";
import type { ProgramFiles } from "./program-files.ts";

export interface FileUser {
  /** Null: it has no files. */
  readonly disk: ProgramFiles | null;
  readonly files: Pick<Handles<CFile>, "add" | "remove" | "list">;
  /** Files that are opened inherit its error handler. */
  readonly noFile: Pick<NoFile, "errorHandler">;
  readonly operations: Pick<Operations, "freeCommunicator" | "failedOf" | "look">;
}

/** The same with the memory from which data is written, and to which it is read. */
export interface FileUserWithMemory extends FileUser, BufferOwner {}
