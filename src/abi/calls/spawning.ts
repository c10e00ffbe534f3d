/** Processes that are started while the job runs: MPI 5.0 §11.8. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { askToSpawn, checkSpawning } from "../../core/binding/spawning.ts";
import { MeetParents } from "../../core/process/communicators/meet-parents.ts";
import { Spawn, type SpawnOutcome } from "../../core/process/communicators/spawn.ts";
import type { SpawnCommand } from "../../core/process/spawner.ts";
import { type CallTable, callsOf } from "../call-table.ts";
import { Ended } from "../ended.ts";
import { adopt } from "../handles/new-communicator.ts";
import type { CCommunicator } from "../handles/objects.ts";
import { COMM_NULL, type Program } from "../program.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { CallAgain, waitThen } from "../waiting/waiting.ts";
import { infoArgument } from "./info.ts";

/** The ABI's MPI_ERRCODES_IGNORE, MPI_ARGV_NULL and MPI_ARGVS_NULL. */
const nowhere = 0;

/** More than any system lets a program have. */
const argumentsMax = 1 << 16;

/** Addresses of what a spawn gives. */
interface Outs {
  readonly comm: number;
  readonly codes: number;
}

/** The group of the parents hears what came of it. */
class Told implements Continuation {
  private readonly comm: CCommunicator;
  private readonly task: Spawn;
  private readonly outs: Outs;

  constructor(comm: CCommunicator, task: Spawn, outs: Outs) {
    this.comm = comm;
    this.task = task;
    this.outs = outs;
  }

  resume(program: Program): number {
    const { ints, errorCodes } = program;
    const { request, error, result, outcome } = this.task;
    const { comm, codes } = this.outs;
    program.operations.end(request);
    program.owner = this.comm;
    ints[comm >> 2] = COMM_NULL;
    if (codes !== nowhere && outcome !== null) {
      program.checkWords(codes, outcome.wanted);
      ints.fill(error, codes >> 2, (codes >> 2) + outcome.wanted);
    }
    // Raised here, not thrown: the call has taken part, and is none of those that were refused.
    if (error !== 0) {
      const why = outcome?.why ?? errorCodes.stringOf(error);
      const disagreement = this.comm.core.takeDisagreement(error);
      return program.raise(disagreement ?? new MpiError(error, `Cannot spawn processes: ${why}`));
    }
    ints[comm >> 2] = adopt(program, result!, this.comm, {}).handle;
    return 0;
  }
}

/** MPI_Init of a spawned process: it is connected to those who spawned it. */
class Met implements Continuation {
  private readonly task: MeetParents;

  constructor(task: MeetParents) {
    this.task = task;
  }

  resume(program: Program): number {
    const { request, error, result } = this.task;
    program.operations.end(request);
    if (error !== 0) {
      const why = `Cannot meet those who spawned this: ${program.errorCodes.stringOf(error)}`;
      // The spawn has failed at its parents too, and they go on: it is this process that ends, not the job.
      if (program.host.survivesDeaths) throw new Ended({ kind: "gave-up", why });
      throw new MpiError(error, why);
    }
    program.parent = adopt(program, result!, program.world, {});
    program.parent.name = "MPI_COMM_PARENT";
    return 0;
  }
}

/** Part of MPI_Init. */
export function meetParents(program: Program): number {
  const { origin } = program.host.spawner;
  if (origin === null) return 0;
  const task = new MeetParents(origin);
  return waitThen(program, program.operations.startTask(task), new Met(task));
}

/** The texts that an array of addresses, ended by 0, leads to. */
function texts(program: Program, at: number): string[] {
  if (at === nowhere) return [];
  program.checkWords(at, 1);
  const length = program.ints.subarray(at >> 2, (at >> 2) + argumentsMax).indexOf(0);
  if (length >= 0) return program.list(at, length).map((text) => program.text(text));
  throw new MpiError(ErrorClass.ARG, `Cannot read the arguments: no null pointer ends the first ${argumentsMax}`);
}

function commandOf(program: Program, command: number, argv: number, processes: number, info: number): SpawnCommand {
  const hints = infoArgument(program, info);
  const [path, folder] = [hints.get("path") ?? "", hints.get("wdir") ?? ""];
  return { command: program.text(command), args: texts(program, argv), processes, path, folder };
}

/** What the root asks for and gets; null: the process shall stop first. */
function ask(program: Program, comm: CCommunicator, commands: readonly SpawnCommand[]): SpawnOutcome | null {
  for (;;) {
    const outcome = askToSpawn(program.operations, program.host.spawner, comm.core, commands);
    if (outcome !== null || program.suspension.isWanted) return outcome;
  }
}

function spawn(
  program: Program,
  comm: CCommunicator,
  root: number,
  outs: Outs,
  commands: () => SpawnCommand[],
  again: CallAgain,
): number {
  const { core } = comm;
  let outcome: SpawnOutcome | null = null;
  if (core.rank === root) {
    outcome = ask(program, comm, commands());
    if (outcome === null) return program.suspension.stop(again);
  }
  const task = new Spawn(core, root, outcome);
  return waitThen(program, program.operations.startTask(task), new Told(comm, task, outs));
}

/** The communicator of those who spawn; everybody is refused alike. */
function spawningComm(program: Program, handle: number, root: number): CCommunicator {
  const comm = program.comm(handle);
  checkSpawning(comm, root, program.host.spawner);
  return comm;
}

const table: CallTable = {
  MPI_Comm_spawn(
    program,
    command: number,
    argv: number,
    processes: number,
    info: number,
    root: number,
    handle: number,
    out: number,
    codes: number,
  ) {
    const comm = spawningComm(program, handle, root);
    const args = [command, argv, processes, info, root, handle, out, codes];
    const commands = () => [commandOf(program, command, argv, processes, info)];
    return spawn(program, comm, root, { comm: out, codes }, commands, new CallAgain("MPI_Comm_spawn", ...args));
  },
  MPI_Comm_spawn_multiple(
    program,
    count: number,
    names: number,
    argvs: number,
    counts: number,
    infos: number,
    root: number,
    handle: number,
    out: number,
    codes: number,
  ) {
    const comm = spawningComm(program, handle, root);
    const args = [count, names, argvs, counts, infos, root, handle, out, codes];
    const commands = () => {
      const lists = [names, argvs, counts, infos].map((at) => (at === nowhere ? [] : program.list(at, count)));
      return Array.from({ length: Math.max(0, count) }, (_, i) => {
        const [name, argv, processes, info] = lists.map((list) => list[i] ?? nowhere);
        return commandOf(program, name!, argv!, processes!, info!);
      });
    };
    return spawn(
      program,
      comm,
      root,
      { comm: out, codes },
      commands,
      new CallAgain("MPI_Comm_spawn_multiple", ...args),
    );
  },
  /** One that was disconnected is nobody's any more. */
  MPI_Comm_get_parent(program, out: number) {
    const { parent } = program;
    return program.putInt(out, parent === null || parent.core.freed ? COMM_NULL : parent.handle);
  },
};

export const spawningCalls = (program: Program) => callsOf(program, table);

saves({ Told, Met });
