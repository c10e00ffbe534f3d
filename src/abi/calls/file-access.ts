/**
 * Reading and writing files: MPI 5.0 §14.4. Every access is made at once; non-blocking forms leave a request that is complete,
 * split collectives what their second call tells. Accesses of all members together are each member's own, but for those in the
 * order of ranks, which agree on their places first.
 */
import { ANY_SOURCE, ANY_TAG } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { type Counts, largeCounts, offsetOf, smallCounts } from "../arguments/counts.ts";
import { writeStatus } from "../arguments/status.ts";
import type { Call } from "../call-table.ts";
import { type Access, moveAtPointer, moveAtShared, moveData } from "../files/access.ts";
import { doTogether } from "../files/do-together.ts";
import type { CFile } from "../files/file.ts";
import { TakeTurns } from "../files/file-tasks.ts";
import { Mode } from "../files/mode.ts";
import { CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import type { Continuation } from "../waiting/callbacks.ts";

type Count = number | bigint;

/** Who hears how many bytes an access has moved: a status, a request, the second call of a split collective. Plain data. */
type Report =
  | { readonly kind: "status"; readonly at: number }
  | { readonly kind: "request"; readonly at: number }
  | { readonly kind: "split"; readonly name: string };

function report(program: Program, file: CFile, bytes: number, to: Report): number {
  switch (to.kind) {
    case "status":
      writeStatus(program.ints, to.at, ANY_SOURCE, ANY_TAG, bytes);
      return 0;
    case "request":
      program.ints[to.at >> 2] = completeRequest(program, bytes);
      return 0;
    case "split":
      file.split = { name: to.name, bytes };
      return 0;
  }
}

/** A request like any other, but for being complete. */
function completeRequest({ operations, requests, self }: Program, bytes: number): number {
  const request = new CRequest(self);
  request.record = operations.startOwn();
  operations.completeOwn(request.record, bytes);
  request.tellsMessage = true;
  request.handle = requests.add(request);
  return request.handle;
}

/** The members know their places. */
class InTurn implements Continuation {
  private readonly task: TakeTurns;
  private readonly file: CFile;
  private readonly access: Access;
  private readonly to: Report;

  constructor(task: TakeTurns, file: CFile, access: Access, to: Report) {
    this.task = task;
    this.file = file;
    this.access = access;
    this.to = to;
  }

  resume(program: Program): number {
    const bytes = moveData(program, this.file, this.access, this.task.start);
    return report(program, this.file, bytes, this.to);
  }
}

export function fileAccessCalls(program: Program): Record<string, Call> {
  /** Accesses at places of the program's own choice. */
  function freeFile(handle: number): CFile {
    const file = program.file(handle);
    if (!file.is(Mode.SEQUENTIAL)) return file;
    throw new MpiError(
      ErrorClass.UNSUPPORTED_OPERATION,
      `Cannot access ${file.title} so: with MPI_MODE_SEQUENTIAL there is the shared pointer only`,
    );
  }

  function at(handle: number, offset: bigint, access: Access, to: Report): number {
    const file = freeFile(handle);
    checkSplit(file, to);
    return report(program, file, moveData(program, file, access, offsetOf(offset)), to);
  }

  function individual(handle: number, access: Access, to: Report): number {
    const file = freeFile(handle);
    checkSplit(file, to);
    return report(program, file, moveAtPointer(program, file, access), to);
  }

  function shared(handle: number, access: Access, to: Report): number {
    const file = program.file(handle);
    return report(program, file, moveAtShared(program, file, access), to);
  }

  function ordered(handle: number, access: Access, to: Report): number {
    const file = program.file(handle);
    checkSplit(file, to);
    const task = new TakeTurns(program, file, access);
    return doTogether(program, task, file, new InTurn(task, file, access, to));
  }

  /** A file has one split collective at a time. */
  function checkSplit(file: CFile, to: Report): void {
    if (to.kind !== "split" || file.split === null) return;
    const state = `MPI_File_${file.split.name}_begin has not been ended`;
    throw new MpiError(ErrorClass.OTHER, `Cannot begin a split collective on ${file.title}: ${state}`);
  }

  const toStatus = (address: number): Report => ({ kind: "status", at: address });
  const toRequest = (address: number): Report => ({ kind: "request", at: address });
  const toSplit = (name: string): Report => ({ kind: "split", name });

  const endOf =
    (name: string): Call =>
    (handle: number, _address: number, status: number) => {
      const file = program.file(handle);
      if (file.split?.name !== name) {
        const state = file.split === null ? "none has begun" : `the one that has begun is ${file.split.name}`;
        throw new MpiError(ErrorClass.OTHER, `Cannot end ${name} on ${file.title}: ${state}`);
      }
      writeStatus(program.ints, status, ANY_SOURCE, ANY_TAG, file.split.bytes);
      file.split = null;
      return 0;
    };

  function forms({ suffix, of }: Counts, kind: Access["kind"]): Record<string, Call> {
    /** The file comes first, so that its handler hears of a wrong datatype. */
    function accessOf(handle: number, address: number, count: Count, type: number): Access {
      program.file(handle);
      return { kind, address, count: of(count), type: program.committed(type) };
    }

    const explicit =
      (to: (address: number) => Report): Call =>
      (handle: number, offset: bigint, address: number, count: Count, type: number, out: number) =>
        at(handle, offset, accessOf(handle, address, count, type), to(out));
    type Pointed = (handle: number, access: Access, to: Report) => number;
    const pointed =
      (act: Pointed, to: (address: number) => Report): Call =>
      (handle: number, address: number, count: Count, type: number, out: number) =>
        act(handle, accessOf(handle, address, count, type), to(out));
    const begin =
      (act: Pointed, name: string): Call =>
      (handle: number, address: number, count: Count, type: number) =>
        act(handle, accessOf(handle, address, count, type), toSplit(name));

    return {
      [`MPI_File_${kind}_at${suffix}`]: explicit(toStatus),
      [`MPI_File_${kind}_at_all${suffix}`]: explicit(toStatus),
      [`MPI_File_i${kind}_at${suffix}`]: explicit(toRequest),
      [`MPI_File_i${kind}_at_all${suffix}`]: explicit(toRequest),
      [`MPI_File_${kind}${suffix}`]: pointed(individual, toStatus),
      [`MPI_File_${kind}_all${suffix}`]: pointed(individual, toStatus),
      [`MPI_File_i${kind}${suffix}`]: pointed(individual, toRequest),
      [`MPI_File_i${kind}_all${suffix}`]: pointed(individual, toRequest),
      [`MPI_File_${kind}_shared${suffix}`]: pointed(shared, toStatus),
      [`MPI_File_i${kind}_shared${suffix}`]: pointed(shared, toRequest),
      [`MPI_File_${kind}_ordered${suffix}`]: pointed(ordered, toStatus),
      [`MPI_File_${kind}_at_all_begin${suffix}`]: (
        handle: number,
        offset: bigint,
        address: number,
        count: Count,
        type: number,
      ) => at(handle, offset, accessOf(handle, address, count, type), toSplit(`${kind}_at_all`)),
      [`MPI_File_${kind}_all_begin${suffix}`]: begin(individual, `${kind}_all`),
      [`MPI_File_${kind}_ordered_begin${suffix}`]: begin(ordered, `${kind}_ordered`),
    };
  }

  const kinds = ["read", "write"] as const;
  const splits = kinds.flatMap((kind) => [`${kind}_at_all`, `${kind}_all`, `${kind}_ordered`]);
  return {
    ...Object.assign({}, ...kinds.flatMap((kind) => [smallCounts, largeCounts].map((c) => forms(c(program), kind)))),
    ...Object.fromEntries(splits.map((name) => [`MPI_File_${name}_end`, endOf(name)])),
  };
}

saves({ InTurn });
