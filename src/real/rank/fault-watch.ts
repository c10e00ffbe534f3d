/**
 * What a fault plan wants to know of a rank: its n-th MPI call, and that it is inside MPI_Init. The rank reports and stands
 * still until it hears what comes of it. Calls are those of one life: a life that goes on from an image counts from 1 again.
 */
import type { RankStandsStill, Watch } from "../messages/rank-messages.ts";

type Call = (...args: never[]) => number;

interface FaultWatchPorts {
  say(message: RankStandsStill): void;
  /** Returns when the rank may go on: the next call that matters, 0: none. */
  standStill(): number;
  /** The call is made once more because the program goes on after an image was taken. */
  isRepeated(): boolean;
}

const isInit = (name: string): boolean => name === "MPI_Init" || name === "MPI_Init_thread";

/** Wraps what the program calls; only of ranks that are watched. */
export function watchCalls(mpi: Record<string, Call>, { call: first, init }: Watch, ports: FaultWatchPorts): void {
  let matters = first;
  let calls = 0;
  const report = (call: number): void => {
    ports.say({ kind: "stands-still", call });
    matters = ports.standStill();
  };
  for (const [name, call] of Object.entries(mpi)) {
    const isWatchedInit = init && isInit(name);
    mpi[name] = (...args) => {
      if (!ports.isRepeated()) {
        calls++;
        if (isWatchedInit) report(0);
        if (calls === matters) report(calls);
      }
      return call(...args);
    };
  }
}
