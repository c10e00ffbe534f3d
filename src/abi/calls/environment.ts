/** Starting, ending, clocks, errors, memory: MPI 5.0 chapters 9 and 11. */
import type { Pointer } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { userErrorHandler } from "../../core/comm/error-handler.ts";
import { chosenTime } from "../../core/ft/clock-choice.ts";
import { deleteAttributes, notDeleted } from "../attributes.ts";
import type { Continuation } from "../callbacks.ts";
import { type CCommunicator, CRequest } from "../objects.ts";
import type { Program } from "../program.ts";
import { CallAgain, type Condition, waitForThen, waitThen, waitUntil } from "../waiting.ts";
import { meetParents } from "./spawning.ts";

const THREAD_FUNNELED = 1024;
const processorNameBytes = 256;
const errorStringBytes = 512;
const libraryVersionBytes = 8192;
const ERRHANDLER_NULL = 0x140;
const BUFFER_AUTOMATIC = 2;

declare const __BANYAN_VERSION__: string;

/** MPI_Finalize when the attributes of MPI_COMM_SELF are gone. */
class Ending implements Continuation {
  resume(program: Program, code: number): number {
    program.owner = program.self;
    if (code !== 0) throw notDeleted(code);
    return waitForThen(program, new Quiet(), new Meet());
  }
}

/** Nothing of ours is left that would need the program. */
class Quiet implements Condition {
  isReady({ buffered, operations }: Program): boolean {
    return buffered.isEmpty && operations.programReductions === 0;
  }
}

/** Everybody waits for everybody: who returns from MPI_Finalize may end with an error, and nobody is cut short by that. */
class Meet implements Continuation {
  resume(program: Program): number {
    return waitThen(program, program.operations.startFinalBarrier(), new Over());
  }
}

class Over implements Continuation {
  resume(program: Program): number {
    program.isFinalized = true;
    return 0;
  }
}

export function environmentCalls(program: Program) {
  const { host, ints } = program;
  const { choices } = program.operations;

  function init(): void {
    if (program.isInitialized) {
      throw new MpiError(ErrorClass.OTHER, "Cannot initialize MPI: MPI_Init has been called before");
    }
    program.isInitialized = true;
  }

  function setHandler(comm: CCommunicator, handle: number): number {
    comm.errorHandler = program.errorHandlers.get(handle);
    return 0;
  }

  function getHandler(comm: CCommunicator, out: number): number {
    const handler = comm.errorHandler;
    // A copy for the program to free, as the standard says.
    ints[out >> 2] = handler.kind === "user" ? program.errorHandlers.add(handler) : handler.handle;
    return 0;
  }

  function createHandler(fn: number, out: number): number {
    ints[out >> 2] = program.errorHandlers.add(userErrorHandler("communicator", fn));
    return 0;
  }

  return {
    MPI_Init(_argc: number, _argv: number): number {
      init();
      return meetParents(program);
    },
    MPI_Init_thread(_argc: number, _argv: number, required: number, provided: number): number {
      init();
      // A C program has one thread here, which is the one that calls MPI. More would be a promise about threads that it
      // cannot make (ADR 12).
      program.threadLevel = Math.min(required, THREAD_FUNNELED);
      ints[provided >> 2] = program.threadLevel;
      return meetParents(program);
    },
    MPI_Query_thread(provided: number): number {
      ints[provided >> 2] = program.threadLevel;
      return 0;
    },
    MPI_Is_thread_main(flag: number): number {
      ints[flag >> 2] = 1;
      return 0;
    },
    MPI_Initialized(flag: number): number {
      ints[flag >> 2] = program.isInitialized ? 1 : 0;
      return 0;
    },
    MPI_Finalize(): number {
      if (!program.isInitialized || program.isFinalized) {
        const state = program.isFinalized ? "it has ended" : "it has not begun";
        throw new MpiError(ErrorClass.OTHER, `Cannot end MPI: ${state}`);
      }
      // Before anything else ends: these functions may still use all of MPI (MPI 5.0 §11.2.2).
      return deleteAttributes(program, program.self, new Ending());
    },
    MPI_Finalized(flag: number): number {
      ints[flag >> 2] = program.isFinalized ? 1 : 0;
      return 0;
    },
    MPI_Abort(handle: number, code: number): number {
      const comm = program.communicators.find(handle) ?? program.world;
      return host.abort(code, `MPI_Abort(${comm.label}, ${code})`);
    },
    MPI_Wtime: choices === null ? (): number => host.now() : (): number => chosenTime(choices, host),
    MPI_Wtick: (): number => 1e-9,
    MPI_Get_processor_name(name: number, length: number): number {
      ints[length >> 2] = program.putText(name, host.processorName, processorNameBytes);
      return 0;
    },
    MPI_Get_version(version: number, subversion: number): number {
      ints[version >> 2] = 5;
      ints[subversion >> 2] = 0;
      return 0;
    },
    MPI_Abi_get_version(major: number, minor: number): number {
      ints[major >> 2] = 1;
      ints[minor >> 2] = 0;
      return 0;
    },
    MPI_Get_library_version(text: number, length: number): number {
      ints[length >> 2] = program.putText(text, `Banyan ${__BANYAN_VERSION__}`, libraryVersionBytes);
      return 0;
    },
    MPI_Pcontrol: (): number => 0,

    // Memory

    MPI_Alloc_mem(size: number, _info: number, out: number): number {
      if (size < 0) throw new MpiError(ErrorClass.ARG, `Cannot allocate ${size} bytes: sizes are from 0`);
      const block = program.memory.allocate(size);
      program.blocks.add(block);
      ints[out >> 2] = block;
      return 0;
    },
    /** As with `free`, a null pointer is nothing. */
    MPI_Free_mem(address: number): number {
      if (address === 0) return 0;
      if (!program.blocks.delete(address)) {
        const state = "MPI_Alloc_mem has not given it, or it was freed before";
        throw new MpiError(ErrorClass.BASE, `Cannot free memory at address ${address >>> 0}: ${state}`);
      }
      program.memory.free(address as Pointer);
      return 0;
    },
    MPI_Buffer_attach(address: number, size: number): number {
      if (size < 0) {
        const state = `its size is ${size}; give a number of bytes, 0 or more`;
        throw new MpiError(ErrorClass.ARG, `Cannot call ${program.call}: ${state}`);
      }
      program.buffered.attach({ address, bytes: address === BUFFER_AUTOMATIC ? Number.POSITIVE_INFINITY : size });
      return 0;
    },
    MPI_Buffer_detach(addressOut: number, sizeOut: number): number {
      const finish = () => {
        const { address = 0, bytes = 0 } = program.buffered.detach() ?? {};
        ints[addressOut >> 2] = address;
        ints[sizeOut >> 2] = address === BUFFER_AUTOMATIC ? 0 : bytes;
        return 0;
      };
      const again = new CallAgain("MPI_Buffer_detach", addressOut, sizeOut);
      return waitUntil(program, () => program.buffered.isEmpty, finish, again);
    },
    MPI_Buffer_flush(): number {
      const again = new CallAgain("MPI_Buffer_flush");
      return waitUntil(
        program,
        () => program.buffered.isEmpty,
        () => 0,
        again,
      );
    },
    MPI_Buffer_iflush(requestAt: number): number {
      const request = new CRequest(program.self);
      request.record = program.operations.startTask(program.buffered.flush());
      request.handle = program.requests.add(request);
      ints[requestAt >> 2] = request.handle;
      return 0;
    },

    // Errors

    MPI_Error_string(code: number, text: number, length: number): number {
      ints[length >> 2] = program.putText(text, program.errorCodes.stringOf(code), errorStringBytes);
      return 0;
    },
    MPI_Error_class(code: number, out: number): number {
      ints[out >> 2] = program.errorCodes.classOf(code);
      return 0;
    },
    MPI_Add_error_class(out: number): number {
      ints[out >> 2] = program.errorCodes.addClass();
      return 0;
    },
    MPI_Add_error_code(errorClass: number, out: number): number {
      ints[out >> 2] = program.errorCodes.addCode(errorClass);
      return 0;
    },
    MPI_Add_error_string(code: number, text: number): number {
      program.errorCodes.addString(code, program.text(text));
      return 0;
    },
    MPI_Remove_error_class(errorClass: number): number {
      program.errorCodes.removeClass(errorClass);
      return 0;
    },
    MPI_Remove_error_code(code: number): number {
      program.errorCodes.removeCode(code);
      return 0;
    },
    MPI_Remove_error_string(code: number): number {
      program.errorCodes.removeString(code);
      return 0;
    },
    MPI_Comm_create_errhandler: createHandler,
    MPI_Errhandler_create: createHandler,
    MPI_Comm_set_errhandler: (comm: number, handler: number) => setHandler(program.comm(comm), handler),
    MPI_Errhandler_set: (comm: number, handler: number) => setHandler(program.comm(comm), handler),
    MPI_Comm_get_errhandler: (comm: number, out: number) => getHandler(program.comm(comm), out),
    MPI_Errhandler_get: (comm: number, out: number) => getHandler(program.comm(comm), out),
    MPI_Errhandler_free(handleAt: number): number {
      const handle = ints[handleAt >> 2]!;
      program.errorHandlers.get(handle);
      if (handle >= 0x1000) program.errorHandlers.remove(handle);
      ints[handleAt >> 2] = ERRHANDLER_NULL;
      return 0;
    },
    MPI_Comm_call_errhandler(handle: number, code: number): number {
      const comm = program.comm(handle);
      const { errorHandler } = comm;
      if (errorHandler.kind === "user") {
        return program.callbacks.callErrorHandler(errorHandler.callback, comm.handle, code, ErrorClass.SUCCESS);
      }
      program.raise(new MpiError(code, program.errorCodes.stringOf(code)));
      return 0;
    },
  };
}

saves({ Ending, Quiet, Meet, Over });
