/** Starting, ending, clocks, errors, memory: MPI 5.0 chapters 9 and 11. */
import type { Pointer } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { userErrorHandler } from "../../core/comm/error-handler.ts";
import { chosenTime } from "../../core/ft/clock-choice.ts";
import { type CallTable, callsOf } from "../call-table.ts";
import { deleteAttributes, notDeleted } from "../handles/attributes.ts";
import { type CCommunicator, CRequest } from "../handles/objects.ts";
import { abortedWith, type Program } from "../program.ts";
import { showToPlane } from "../show-to-plane.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { handOver } from "../waiting/conclude-requests.ts";
import { CallAgain, type Condition, waitForThen, waitThen, waitUntil } from "../waiting/waiting.ts";
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
    program.process.pass.setOutside(true);
    return 0;
  }
}

function init(program: Program): void {
  if (program.isInitialized) {
    throw new MpiError(ErrorClass.OTHER, "Cannot initialize MPI: MPI_Init has been called before");
  }
  program.isInitialized = true;
  program.process.pass.setOutside(false);
  showToPlane(program, program.world);
  program.process.openPass();
}

function setHandler(program: Program, comm: CCommunicator, handle: number): number {
  comm.errorHandler = program.errorHandlers.get(handle);
  return 0;
}

function getHandler(program: Program, comm: CCommunicator, out: number): number {
  const handler = comm.errorHandler;
  // A copy for the program to free, as the standard says.
  return program.putInt(out, handler.kind === "user" ? program.errorHandlers.add(handler) : handler.handle);
}

function createHandler(program: Program, fn: number, out: number): number {
  return program.putInt(out, program.errorHandlers.add(userErrorHandler("communicator", fn)));
}

const table: CallTable = {
  MPI_Init(program, _argc: number, _argv: number) {
    init(program);
    return meetParents(program);
  },
  MPI_Init_thread(program, _argc: number, _argv: number, required: number, provided: number) {
    init(program);
    // A C program has one thread here, which is the one that calls MPI. More would be a promise about threads that it
    // cannot make (ADR 12).
    program.threadLevel = Math.min(required, THREAD_FUNNELED);
    program.ints[provided >> 2] = program.threadLevel;
    return meetParents(program);
  },
  MPI_Query_thread: (program, provided: number) => program.putInt(provided, program.threadLevel),
  MPI_Is_thread_main: (program, flag: number) => program.putInt(flag, 1),
  MPI_Initialized: (program, flag: number) => program.putInt(flag, program.isInitialized ? 1 : 0),
  MPI_Finalize(program) {
    if (!program.isInitialized || program.isFinalized) {
      const state = program.isFinalized ? "it has ended" : "it has not begun";
      throw new MpiError(ErrorClass.OTHER, `Cannot end MPI: ${state}`);
    }
    // It would wait for the collective, and the collective for it.
    if (program.callbacks.areCombining) {
      throw new MpiError(ErrorClass.OTHER, "Cannot end MPI: a function of MPI_Op_create calls MPI_Finalize");
    }
    // Before anything else ends: these functions may still use all of MPI (MPI 5.0 §11.2.2).
    return deleteAttributes(program, program.self, new Ending());
  },
  MPI_Finalized: (program, flag: number) => program.putInt(flag, program.isFinalized ? 1 : 0),
  MPI_Abort(program, handle: number, code: number) {
    const comm = program.communicators.find(handle) ?? program.world;
    return program.host.abort(code, `MPI_Abort(${comm.label}, ${code})`, abortedWith(program, comm));
  },
  MPI_Wtime({ host, operations }) {
    const { clocks } = operations;
    return clocks === null ? host.now() : chosenTime(clocks, host);
  },
  MPI_Wtick: () => 1e-9,
  MPI_Get_processor_name: (program, name: number, length: number) =>
    program.putInt(length, program.putText(name, program.host.processorName, processorNameBytes)),
  MPI_Get_version(program, version: number, subversion: number) {
    program.ints[version >> 2] = 5;
    return program.putInt(subversion, 0);
  },
  MPI_Abi_get_version(program, major: number, minor: number) {
    program.ints[major >> 2] = 1;
    return program.putInt(minor, 0);
  },
  MPI_Get_library_version: (program, text: number, length: number) =>
    program.putInt(length, program.putText(text, `Banyan ${__BANYAN_VERSION__}`, libraryVersionBytes)),
  MPI_Pcontrol: () => 0,

  // Memory

  MPI_Alloc_mem(program, size: number, _info: number, out: number) {
    if (size < 0) throw new MpiError(ErrorClass.ARG, `Cannot allocate ${size} bytes: sizes are from 0`);
    const block = program.memory.allocate(size);
    program.blocks.add(block);
    return program.putInt(out, block);
  },
  /** As with `free`, a null pointer is nothing. */
  MPI_Free_mem(program, address: number) {
    if (address === 0) return 0;
    if (!program.blocks.delete(address)) {
      const state = "MPI_Alloc_mem has not given it, or it was freed before";
      throw new MpiError(ErrorClass.BASE, `Cannot free memory at address ${address >>> 0}: ${state}`);
    }
    program.memory.free(address as Pointer);
    return 0;
  },
  MPI_Buffer_attach(program, address: number, size: number) {
    if (size < 0) {
      const state = `its size is ${size}; give a number of bytes, 0 or more`;
      throw new MpiError(ErrorClass.ARG, `Cannot call ${program.call}: ${state}`);
    }
    program.buffered.attach({ address, bytes: address === BUFFER_AUTOMATIC ? Number.POSITIVE_INFINITY : size });
    return 0;
  },
  MPI_Buffer_detach(program, addressOut: number, sizeOut: number) {
    const finish = () => {
      const { address = 0, bytes = 0 } = program.buffered.detach() ?? {};
      program.ints[addressOut >> 2] = address;
      return program.putInt(sizeOut, address === BUFFER_AUTOMATIC ? 0 : bytes);
    };
    const again = new CallAgain("MPI_Buffer_detach", addressOut, sizeOut);
    return waitUntil(program, () => program.buffered.isEmpty, finish, again);
  },
  MPI_Buffer_flush(program) {
    const again = new CallAgain("MPI_Buffer_flush");
    return waitUntil(
      program,
      () => program.buffered.isEmpty,
      () => 0,
      again,
    );
  },
  MPI_Buffer_iflush(program, requestAt: number) {
    const request = new CRequest(program.self);
    request.record = program.operations.startTask(program.buffered.flush());
    return handOver(program, request, requestAt);
  },

  // Errors

  MPI_Error_string: (program, code: number, text: number, length: number) =>
    program.putInt(length, program.putText(text, program.errorCodes.stringOf(code), errorStringBytes)),
  MPI_Error_class: (program, code: number, out: number) => program.putInt(out, program.errorCodes.classOf(code)),
  MPI_Add_error_class: (program, out: number) => program.putInt(out, program.errorCodes.addClass()),
  MPI_Add_error_code: (program, errorClass: number, out: number) =>
    program.putInt(out, program.errorCodes.addCode(errorClass)),
  MPI_Add_error_string(program, code: number, text: number) {
    program.errorCodes.addString(code, program.text(text));
    return 0;
  },
  MPI_Remove_error_class(program, errorClass: number) {
    program.errorCodes.removeClass(errorClass);
    return 0;
  },
  MPI_Remove_error_code(program, code: number) {
    program.errorCodes.removeCode(code);
    return 0;
  },
  MPI_Remove_error_string(program, code: number) {
    program.errorCodes.removeString(code);
    return 0;
  },
  MPI_Comm_create_errhandler: createHandler,
  MPI_Errhandler_create: createHandler,
  MPI_Comm_set_errhandler: (program, comm: number, handler: number) => setHandler(program, program.comm(comm), handler),
  MPI_Errhandler_set: (program, comm: number, handler: number) => setHandler(program, program.comm(comm), handler),
  MPI_Comm_get_errhandler: (program, comm: number, out: number) => getHandler(program, program.comm(comm), out),
  MPI_Errhandler_get: (program, comm: number, out: number) => getHandler(program, program.comm(comm), out),
  MPI_Errhandler_free(program, handleAt: number) {
    const handle = program.ints[handleAt >> 2]!;
    program.errorHandlers.get(handle);
    if (handle >= 0x1000) program.errorHandlers.remove(handle);
    return program.putInt(handleAt, ERRHANDLER_NULL);
  },
  MPI_Comm_call_errhandler(program, handle: number, code: number) {
    const comm = program.comm(handle);
    const { errorHandler } = comm;
    if (errorHandler.kind === "user") {
      return program.callbacks.callErrorHandler(errorHandler.callback, comm.handle, code, ErrorClass.SUCCESS);
    }
    program.raise(new MpiError(code, program.errorCodes.stringOf(code)));
    return 0;
  },
};

export const environmentCalls = (program: Program) => callsOf(program, table);

saves({ Ending, Quiet, Meet, Over });
