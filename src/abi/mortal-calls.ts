/**
 * Programs in C whose processes die by themselves, for the program alone: before each call the process is asked whether it dies, as
 * Sim_FT_decide_kill is (thesis §5.3.6). A death that is due comes in the next call that communicates: only there can a process wait until all
 * end, and nobody else can tell the difference.
 */
import type { Call } from "./call-table.ts";
import type { Program } from "./program.ts";

interface Mortality {
  isDue(): boolean;
  /** The import by which a program makes its process dead. */
  readonly die: Call;
  /** The imports that communicate. */
  readonly isCapturePoint: ReadonlySet<string>;
}

/** Wraps what the program calls. */
export function makeMortal(program: Program, mpi: Record<string, Call>, mortality: Mortality): void {
  const { die, isCapturePoint } = mortality;
  const { suspension } = program;
  let isDue = false;
  let isDying = false;
  for (const [name, call] of Object.entries(mpi)) {
    const mayDie = isCapturePoint.has(name);
    mpi[name] = (...args) => {
      // A call that is made again, to go on after a stop, was counted when it began, and goes on as what it was.
      if (!suspension.isRewinding && !isDying) {
        if (mortality.isDue()) isDue = true;
        isDying = isDue && mayDie && program.isRunning;
      }
      return isDying ? die() : call(...args);
    };
  }
}
