/** Files: opening, closing, sizes, views, pointers, hints, errors. MPI 5.0 §14.2, §14.3, §14.6, §14.7. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { userErrorHandler } from "../../core/comm/error-handler.ts";
import { Info } from "../../core/comm/info.ts";
import { type Counts, largeCounts, offsetOf, smallCounts } from "../arguments/counts.ts";
import type { Call } from "../call-table.ts";
import { Closed, CloseFile } from "../files/close-file.ts";
import { Done, doTogether } from "../files/do-together.ts";
import { type CFile, FILE_NULL, type NoFile } from "../files/file.ts";
import { SeekShared, SetAtomicity, SetSize, SyncFile } from "../files/file-tasks.ts";
import { Mode } from "../files/mode.ts";
import { Opened, OpenFile } from "../files/open-file.ts";
import { diskOf } from "../files/program-files.ts";
import { seekTarget } from "../files/seek.ts";
import { SetView } from "../files/set-view.ts";
import { sharedPosition } from "../files/shared-pointer.ts";
import { byteOfEtype } from "../files/view.ts";
import type { Program } from "../program.ts";
import { putGroup } from "./groups.ts";
import { infoArgument } from "./info.ts";

/** The hints on files that the standard knows (§14.2.8); others are ignored, and not kept. */
const fileHints = new Set([
  "access_style",
  "collective_buffering",
  "cb_block_size",
  "cb_buffer_size",
  "cb_nodes",
  "chunked",
  "chunked_item",
  "chunked_size",
  "filename",
  "file_perm",
  "io_node_list",
  "nb_proc",
  "num_io_nodes",
  "striping_factor",
  "striping_unit",
  "mpi_minimum_memory_alignment",
]);

/** The ABI's MPI_MAX_DATAREP_STRING. */
const representationBytesMax = 128;

export function fileCalls(program: Program): Record<string, Call> {
  const { errorHandlers, ints, longs } = program;

  const putLong = (out: number, value: number): number => {
    longs[out >> 3] = BigInt(value);
    return 0;
  };
  const hints = (info: number): Info => Info.of([...infoArgument(program, info)].filter(([key]) => fileHints.has(key)));

  function refuse(errorClass: number, what: string): never {
    throw new MpiError(errorClass, `Cannot ${what}`);
  }

  /** One whose pointers may be moved: a sequential one has a shared pointer, which goes forward. */
  function seekable(handle: number): CFile {
    const file = program.file(handle);
    if (!file.is(Mode.SEQUENTIAL)) return file;
    return refuse(ErrorClass.UNSUPPORTED_OPERATION, `do that with ${file.title}: it is open with MPI_MODE_SEQUENTIAL`);
  }

  function setSize(handle: number, bytes: bigint, mayShrink: boolean): number {
    const file = seekable(handle);
    if (file.is(Mode.RDONLY)) {
      refuse(ErrorClass.READ_ONLY, `set the size of ${file.title}: it is open with MPI_MODE_RDONLY`);
    }
    return doTogether(program, new SetSize(program, file, offsetOf(bytes), mayShrink), file, new Done());
  }

  /** Whose handlers the functions on error handlers mean. */
  function subject(handle: number): CFile | NoFile {
    program.owner = program.noFile;
    return handle === FILE_NULL ? program.noFile : program.file(handle);
  }

  /** A type of a view for the program to keep: predefined ones it knows, of others it gets handles to free. */
  const typeHandle = (type: Datatype): number => (type.isPredefined ? type.handle : program.addType(type));

  function forms({ suffix, put }: Counts): Record<string, Call> {
    return {
      [`MPI_File_get_type_extent${suffix}`]: (handle: number, type: number, out: number) => {
        program.file(handle);
        put(out, program.types.get(type).core.extent);
        return 0;
      },
      [`MPI_Register_datarep${suffix}`]: (
        _name: number,
        _read: number,
        _write: number,
        _extent: number,
        _extra: number,
      ) => {
        program.owner = program.noFile;
        return refuse(ErrorClass.UNSUPPORTED_OPERATION, "register a data representation: Banyan has its own ones only");
      },
    };
  }

  return {
    ...forms(smallCounts(program)),
    ...forms(largeCounts(program)),

    MPI_File_open(commHandle: number, nameAt: number, mode: number, info: number, out: number): number {
      program.owner = program.noFile;
      ints[out >> 2] = FILE_NULL;
      const comm = program.communicators.get(commHandle);
      if (comm.core.isInter) refuse(ErrorClass.COMM, `open a file: ${comm.label} is an inter-communicator`);
      const options = { name: program.text(nameAt), mode, info: hints(info) };
      const task = new OpenFile(program, comm.core, options);
      return doTogether(program, task, program.noFile, new Opened(task, out));
    },
    MPI_File_close(handleAt: number): number {
      const file = program.file(ints[handleAt >> 2]!);
      if (file.split !== null) {
        refuse(ErrorClass.OTHER, `close ${file.title}: call MPI_File_${file.split.name}_end first`);
      }
      return doTogether(program, new CloseFile(program, file), file, new Closed(file, handleAt));
    },
    MPI_File_delete(nameAt: number, _info: number): number {
      program.owner = program.noFile;
      const disk = diskOf(program);
      disk.remove(disk.pathOf(program.text(nameAt)));
      return 0;
    },

    // What is known of them

    MPI_File_set_size: (handle: number, size: bigint): number => setSize(handle, size, true),
    MPI_File_preallocate: (handle: number, size: bigint): number => setSize(handle, size, false),
    MPI_File_get_size(handle: number, out: number): number {
      const { descriptor } = program.file(handle);
      return putLong(out, diskOf(program).size(descriptor));
    },
    MPI_File_get_group: (handle: number, out: number): number =>
      putGroup(program, program.file(handle).comm.group, out),
    MPI_File_get_amode(handle: number, out: number): number {
      ints[out >> 2] = program.file(handle).mode;
      return 0;
    },
    MPI_File_set_info(handle: number, info: number): number {
      const file = program.file(handle);
      for (const [key, value] of hints(info)) file.info.set(key, value);
      return 0;
    },
    MPI_File_get_info(handle: number, out: number): number {
      ints[out >> 2] = program.infos.add(program.file(handle).info.dup());
      return 0;
    },

    // Views

    MPI_File_set_view(
      handle: number,
      offset: bigint,
      etype: number,
      filetype: number,
      representation: number,
      info: number,
    ): number {
      const file = program.file(handle);
      const view = {
        displacement: offsetOf(offset),
        etype: program.committed(etype),
        filetype: program.committed(filetype),
        representation: program.text(representation),
      };
      for (const [key, value] of hints(info)) file.info.set(key, value);
      return doTogether(program, new SetView(program, file, view), file, new Done());
    },
    MPI_File_get_view(handle: number, offset: number, etype: number, filetype: number, representation: number): number {
      const { view } = program.file(handle);
      ints[etype >> 2] = typeHandle(view.etype);
      ints[filetype >> 2] = typeHandle(view.filetype);
      program.putText(representation, view.representation, representationBytesMax);
      return putLong(offset, view.displacement);
    },

    // Pointers

    MPI_File_seek(handle: number, offset: bigint, whence: number): number {
      const file = seekable(handle);
      file.position = seekTarget(program, file, offsetOf(offset), whence, file.position);
      return 0;
    },
    MPI_File_get_position: (handle: number, out: number): number => putLong(out, seekable(handle).position),
    MPI_File_get_byte_offset(handle: number, offset: bigint, out: number): number {
      const file = seekable(handle);
      if (offset < 0n) refuse(ErrorClass.ARG, `find etype ${offset} in ${file.title}: offsets are from 0`);
      return putLong(out, byteOfEtype(file.view, offsetOf(offset)));
    },
    MPI_File_seek_shared(handle: number, offset: bigint, whence: number): number {
      const file = seekable(handle);
      return doTogether(program, new SeekShared(program, file, offsetOf(offset), whence), file, new Done());
    },
    MPI_File_get_position_shared: (handle: number, out: number): number =>
      putLong(out, sharedPosition(program, seekable(handle))),

    // Consistency

    MPI_File_set_atomicity(handle: number, flag: number): number {
      const file = program.file(handle);
      return doTogether(program, new SetAtomicity(program, file, flag !== 0), file, new Done());
    },
    MPI_File_get_atomicity(handle: number, out: number): number {
      ints[out >> 2] = program.file(handle).isAtomic ? 1 : 0;
      return 0;
    },
    MPI_File_sync(handle: number): number {
      const file = program.file(handle);
      return doTogether(program, new SyncFile(program, file), file, new Done());
    },

    // Errors

    MPI_File_create_errhandler(fn: number, out: number): number {
      ints[out >> 2] = errorHandlers.add(userErrorHandler("file", fn));
      return 0;
    },
    MPI_File_set_errhandler(handle: number, handler: number): number {
      subject(handle).errorHandler = errorHandlers.get(handler);
      return 0;
    },
    MPI_File_get_errhandler(handle: number, out: number): number {
      const { errorHandler } = subject(handle);
      // A copy for the program to free, as the standard says.
      ints[out >> 2] = errorHandler.kind === "user" ? errorHandlers.add(errorHandler) : errorHandler.handle;
      return 0;
    },
    MPI_File_call_errhandler(handle: number, code: number): number {
      const { errorHandler } = subject(handle);
      program.owner = subject(handle);
      if (errorHandler.kind === "user") {
        return program.callbacks.callErrorHandler(errorHandler.callback, handle, code, ErrorClass.SUCCESS);
      }
      program.raise(new MpiError(code, program.errorCodes.stringOf(code)));
      return 0;
    },
  };
}
