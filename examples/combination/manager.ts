/**
 * The manager: gives grids to groups, learns of deaths, and mends the combination.
 *
 * A grid whose group breaks is lost and not solved again. The general coefficient problem says what the best combination without it is; grids that this one needs
 * and nobody has solved yet, all of them smaller than the lost one, are given to groups as any other. So a death costs a little accuracy and hardly
 * any time. When no group is left the manager combines what it has been given, and solves small grids itself.
 */
import { type Communicator, type Group, mpi, type Request } from "banyan";
import { bestCoefficients } from "./coefficients.ts";
import type { Task } from "./group.ts";
import type { Outcome } from "./result.ts";
import { isClassic, totalOf } from "./scheme.ts";
import { solveAlone } from "./slab.ts";
import { commands, type Learning, reports, survives, type Team, tags } from "./team.ts";

/** What is done about a lost grid: other coefficients for the classic grids alone, or for smaller grids too. */
export type Repair = "weights" | "smaller";

interface GroupState {
  /** Its members among all processes. */
  readonly processes: Group;
  /** The grid that it has been given; −1: none. */
  busyWith: number;
  isBroken: boolean;
  /** Dead, or it has said goodbye. */
  isGone: boolean;
}

export class Manager {
  readonly #task: Task;
  readonly #repair: Repair;
  readonly #all: Communicator;
  readonly #leaders: Communicator;
  readonly #groups: GroupState[];
  readonly #solutions: (Float64Array | undefined)[];
  readonly #lost: number[] = [];
  #coefficients: Int32Array = new Int32Array();
  readonly #report = new Int32Array(2);
  #receive: Request;
  /** From anybody in the world, of what nobody sends: it ends when somebody dies, and only then. */
  readonly #watch: Request | null;

  constructor(team: Team, { learning, repair, ...task }: Task & { learning: Learning; repair: Repair }) {
    this.#task = task;
    this.#repair = repair;
    this.#all = team.all;
    this.#leaders = team.leaders!;
    const world = team.all.group();
    this.#groups = team.members.map((ranks) => ({
      processes: world.incl(ranks),
      busyWith: -1,
      isBroken: false,
      isGone: false,
    }));
    this.#solutions = task.scheme.levels.map(() => undefined);
    this.#receive = this.#leaders.irecv(this.#report, { tag: tags.report });
    this.#watch = learning === "watch" ? this.#all.irecv(new Int32Array(1), { tag: tags.watch }) : null;
    this.#plan();
  }

  run(): Outcome {
    while (this.#missing().length > 0) {
      if (this.#groups.every(({ isBroken }) => isBroken)) this.#goOnAlone();
      else {
        this.#handOut();
        // Whoever was given something may be dead already.
        if (this.#groups.some(({ isBroken, busyWith }) => !isBroken && busyWith >= 0)) this.#listen();
      }
    }
    this.#dismiss();
    return { coefficients: this.#coefficients, solutions: this.#solutions, lost: this.#lost };
  }

  /** The best combination without the grids that are lost. The smallest grid can always be had: the manager can solve it itself. */
  #plan(): void {
    const { scheme } = this.#task;
    this.#coefficients = bestCoefficients(scheme, (place) => {
      const mayBeUsed = this.#repair === "smaller" || isClassic(scheme, scheme.levels[place]!);
      return place === 0 || (mayBeUsed && !this.#lost.includes(place));
    });
  }

  /** Grids of the combination that are not solved. */
  #missing(): number[] {
    return [...this.#coefficients.keys()].filter(
      (place) => this.#coefficients[place] !== 0 && this.#solutions[place] === undefined,
    );
  }

  /** The largest of them that no group is busy with. */
  #next(): number | undefined {
    const { levels } = this.#task.scheme;
    const isFree = (place: number): boolean =>
      this.#groups.every((group) => group.isBroken || group.busyWith !== place);
    return this.#missing()
      .filter(isFree)
      .sort((a, b) => totalOf(levels[b]!) - totalOf(levels[a]!) || a - b)[0];
  }

  #handOut(): void {
    for (const [index, group] of this.#groups.entries()) {
      if (group.isBroken || group.busyWith >= 0) continue;
      const place = this.#next();
      if (place === undefined) return;
      group.busyWith = place;
      if (!this.#command(index, commands.solve, place)) this.#bury();
    }
  }

  /** False: the master is dead. */
  #command(group: number, kind: number, place: number): boolean {
    return survives(() => this.#leaders.send(Int32Array.of(kind, place), { dest: group + 1, tag: tags.command }));
  }

  /** Waits for a report or a death, and acts on it. */
  #listen(): void {
    const awaited = this.#watch === null ? [this.#receive] : [this.#receive, this.#watch];
    let master = 0;
    const isReport = survives(() => {
      master = mpi.waitAny(awaited).status.source;
    });
    if (!isReport) {
      this.#bury();
      return;
    }
    const [kind = 0, place = 0] = this.#report;
    this.#receive = this.#leaders.irecv(this.#report, { tag: tags.report });
    const group = this.#groups[master - 1]!;
    if (kind === reports.goodbye) group.isGone = true;
    // A group that the manager has given up may have been through in time. It counts as broken all the same.
    else if (group.isBroken) return;
    else if (kind === reports.broken) this.#giveUp(group);
    else this.#collect(master, group, place);
  }

  #collect(master: number, group: GroupState, place: number): void {
    const { scheme } = this.#task;
    const values = new Float64Array(scheme.levels[place]!.reduce((product, l) => product * 2 ** l, 1));
    const isHere =
      this.#command(master - 1, commands.deliver, place) &&
      survives(() => this.#leaders.recv(values, { source: master, tag: tags.values }));
    if (!isHere) {
      this.#bury();
      return;
    }
    this.#solutions[place] = values;
    group.busyWith = -1;
  }

  /** Acknowledges the dead, so that receives from anybody go on, and gives up their groups (§6.1, by the intersection of process groups). */
  #bury(): void {
    this.#leaders.ackFailed();
    const dead = [this.#leaders.acknowledged()];
    if (this.#watch !== null) {
      this.#all.ackFailed();
      dead.push(this.#all.acknowledged());
    }
    for (const group of this.#groups) {
      if (dead.some((failed) => failed.intersection(group.processes).size > 0)) this.#giveUp(group);
      const master = group.processes.worldRanks[0]!;
      if (dead.some((failed) => failed.worldRanks.includes(master))) group.isGone = true;
    }
  }

  #giveUp(group: GroupState): void {
    if (group.isBroken) return;
    group.isBroken = true;
    if (group.busyWith < 0) return;
    this.#lose(group.busyWith);
    this.#plan();
  }

  #lose(place: number): void {
    if (!this.#lost.includes(place)) this.#lost.push(place);
  }

  /** All groups are broken: classic grids that are not solved by now are lost, and the small ones left are no work. */
  #goOnAlone(): void {
    const { problem, scheme } = this.#task;
    for (const [place, level] of scheme.levels.entries()) {
      if (isClassic(scheme, level) && this.#solutions[place] === undefined) this.#lose(place);
    }
    this.#plan();
    for (const place of this.#missing()) {
      this.#solutions[place] = solveAlone(problem, scheme.levels[place]!, scheme.finest);
    }
  }

  /** Every master that lives says goodbye; so everything that was sent is received. No other report counts any more. */
  #dismiss(): void {
    for (const group of this.#groups) group.isBroken = true;
    for (const [index, { isGone }] of this.#groups.entries()) {
      if (!isGone && !this.#command(index, commands.stop, 0)) this.#bury();
    }
    while (this.#groups.some(({ isGone }) => !isGone)) this.#listen();
    for (const request of [this.#receive, this.#watch]) {
      request?.cancel();
      survives(() => request?.wait());
    }
  }
}
