/** Groups of checks inside a job: every rank runs them; rank 0 prints when a group begins and when all ranks have passed it. */
import { mpi } from "banyan";

let groups = 0;

export async function check(name: string, body: () => void | Promise<void>): Promise<void> {
  const say = (what: string): void => {
    if (mpi.world.rank === 0) console.log(`${what} ${name}`);
  };
  say("begin");
  await body();
  mpi.world.barrier();
  groups++;
  say("passed");
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
