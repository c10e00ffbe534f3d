/** What a program in C knows of its start: MPI_INFO_ENV (MPI 5.0 §11.5.3), and the error handler that it begins with (§9.3.4). */
import { errorsAbort, errorsAreFatal, errorsReturn } from "../core/comm/error-handler.ts";
import { setIfItFits } from "../core/comm/info.ts";
import { INFO_ENV, type Program } from "./program.ts";

/** By the names that `mpiexec --initial-errhandler` takes. */
const initialHandlers = {
  mpi_errors_are_fatal: errorsAreFatal,
  mpi_errors_abort: errorsAbort,
  mpi_errors_return: errorsReturn,
} as const;

interface HowStarted {
  readonly command: string;
  readonly args: readonly string[];
  /** Other names than those above, and none, mean that errors are fatal. */
  readonly initialHandler: string | undefined;
}

/** Before the program begins; one that is restored has what it had. */
export function tellHowStarted(program: Program, { command, args, initialHandler = "" }: HowStarted): void {
  const isKnown = Object.hasOwn(initialHandlers, initialHandler);
  const name = isKnown ? (initialHandler as keyof typeof initialHandlers) : "mpi_errors_are_fatal";
  const info = program.infos.get(INFO_ENV);
  setIfItFits(info, "command", command);
  if (args.length > 0) setIfItFits(info, "argv", args.join(" "));
  info.set("mpi_initial_errhandler", name);
  for (const comm of [program.world, program.self]) comm.errorHandler = initialHandlers[name];
}
