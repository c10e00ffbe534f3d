/** Groups of checks inside a job: every rank runs them, rank 0 prints the name of each group when all have passed it. */
import { mpi } from "banyan";

let groups = 0;

export async function check(name: string, body: () => void | Promise<void>): Promise<void> {
  await body();
  mpi.world.barrier();
  groups++;
  if (mpi.world.rank === 0) console.log(name);
}

/** The last line: how many groups there were. */
export function done(): void {
  if (mpi.world.rank === 0) console.log(`all ${groups} groups`);
}

/** 0 … n−1. */
export const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** The code of the MpiError that `call` throws. */
export function codeOf(call: () => unknown): number {
  try {
    call();
  } catch (error) {
    if (error instanceof Error && error.name === "MpiError") return (error as Error & { code: number }).code;
    throw error;
  }
  throw new Error("nothing was thrown");
}
