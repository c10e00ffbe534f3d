/** A group: its master takes commands from the manager, and all of its members solve a grid together, some rows each. */
import type { Communicator } from "banyan";
import type { Level, Scheme } from "./scheme.ts";
import { type Problem, rowPoints, rowsOf, Slab } from "./slab.ts";
import { commands, type Learning, reports, survives, tags } from "./team.ts";

/** What a group works on. */
export interface Task {
  readonly problem: Problem;
  readonly scheme: Scheme;
}

/** Returns when the manager says so, or when the group is broken. */
export function work(group: Communicator, { problem, scheme }: Task): void {
  const command = new Int32Array(2);
  const isWhole = survives(() => {
    for (;;) {
      group.bcast(command);
      if (command[0] === commands.stop) return;
      solveTogether(group, problem, scheme.levels[command[1]!]!, scheme.finest);
    }
  });
  if (!isWhole) group.revoke();
}

/** False: the manager is dead. */
export function lead(leaders: Communicator, group: Communicator, task: Task & { learning: Learning }): boolean {
  const { problem, scheme, learning } = task;
  const command = new Int32Array(2);
  let values: Float64Array = new Float64Array();
  let isBroken = false;

  /** What the members do together; afterwards the group is broken, or not. */
  function together(act: () => void): void {
    if (isBroken || survives(act)) return;
    isBroken = true;
    group.revoke();
  }

  /** The group stays in the team when it is broken: it only does nothing any more but say goodbye. */
  const isManaged = survives(() => {
    do {
      leaders.recv(command, { source: 0, tag: tags.command });
      const [kind = 0, place = 0] = command;
      if (kind === commands.deliver) {
        leaders.send(values, { dest: 0, tag: tags.values });
        continue;
      }
      together(() => group.bcast(command));
      if (kind !== commands.solve) continue;
      together(() => {
        values = solveTogether(group, problem, scheme.levels[place]!, scheme.finest)!;
      });
      if (!isBroken) leaders.send(Int32Array.of(reports.done, place), { dest: 0, tag: tags.report });
      else if (learning === "told") leaders.send(Int32Array.of(reports.broken, place), { dest: 0, tag: tags.report });
    } while (command[0] !== commands.stop);
    leaders.send(Int32Array.of(reports.goodbye, 0), { dest: 0, tag: tags.report });
  });
  if (!isManaged) group.revoke();
  return isManaged;
}

/** The whole grid at the master, null at the others. */
function solveTogether(group: Communicator, problem: Problem, level: Level, finest: number): Float64Array | null {
  const { rank, size } = group;
  const steps = problem.steps(finest);
  const slab = new Slab(problem, level, { rows: rowsOf(level, rank, size), steps });
  const busy = Math.min(size, 2 ** level[0]!);
  if (slab.rows.count > 0) {
    for (let step = 0; step < steps; step++) {
      exchangeBorders(group, slab, busy);
      slab.step();
    }
  }
  const counts = Array.from({ length: size }, (_, member) => rowsOf(level, member, size).count * rowPoints(level));
  return group.gatherv(slab.ownValues, { counts });
}

/** Members with rows stand in a ring: the domain has no end. */
function exchangeBorders(group: Communicator, slab: Slab, busy: number): void {
  const before = (group.rank + busy - 1) % busy;
  const behind = (group.rank + 1) % busy;
  const last = slab.rows.count - 1;
  group.sendrecv(slab.rowAt(0), { dest: before, tag: 0 }, slab.rowAt(last + 1), { source: behind, tag: 0 });
  group.sendrecv(slab.rowAt(last), { dest: behind, tag: 1 }, slab.rowAt(-1), { source: before, tag: 1 });
}
