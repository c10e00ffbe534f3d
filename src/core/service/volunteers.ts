/**
 * Processes that offer themselves to a job ("volunteers"), and the places that they take. A job has a place for each of its nodes; who
 * stands behind a place may change, and no rank sees it.
 *
 *   gathering  a job that starts no processes of its own waits until there are volunteers for all places, which they take at once. A
 *              volunteer that goes before was never a node
 *   running    a place that was lost goes to the volunteer that has been free longest; to a process that the job starts, where it
 *              does; otherwise it is vacant, and the next volunteer takes the place that has been vacant longest
 *   over       no process takes a place
 *
 * Every volunteer gets a number of its own, from 1. A process that calls by a number has been a volunteer before: it has lost its link, and
 * so it was given up, and others may live in its place. It is refused under that number, whatever it says, and may call as a new one.
 */
import { assert } from "../base/assert.ts";

interface VolunteersOptions {
  /** How many places there are. */
  readonly nodes: number;
  /** Does the job start processes for places that no volunteer takes? */
  readonly startsOwn: boolean;
}

interface VolunteersPorts {
  /** That process takes that place now: a volunteer, or (0) one that the job starts. */
  take(node: number, volunteer: number): void;
}

/** In the place of a volunteer's number: a process that the job starts. */
export const ownProcess = 0;

export class Volunteers {
  readonly #options: VolunteersOptions;
  readonly #ports: VolunteersPorts;
  #phase: "gathering" | "running" | "over" = "gathering";
  /** How many numbers were given. */
  #numbers = 0;
  /** In the order in which they have joined. */
  readonly #free: number[] = [];
  /** Those that no process has, in the order in which they were lost. */
  readonly #vacant: number[] = [];

  constructor(options: VolunteersOptions, ports: VolunteersPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  /** How many volunteers have no place. */
  get free(): number {
    return this.#free.length;
  }

  isFree(volunteer: number): boolean {
    return this.#free.includes(volunteer);
  }

  /** How many more must join before the job begins. */
  get missing(): number {
    return this.#phase === "gathering" ? this.#options.nodes - this.#free.length : 0;
  }

  /** Has no process taken that place, and does the job wait for one? */
  isVacant(node: number): boolean {
    return this.#phase === "gathering" || this.#vacant.includes(node);
  }

  /** The job can begin, as far as it depends on the job. */
  begin(): void {
    if (this.#options.startsOwn) this.#takeAll(() => ownProcess);
    else this.#beginIfComplete();
  }

  /** A job that was switched off goes on: its places are wanted one by one. */
  resume(): void {
    this.#phase = "running";
  }

  /** A process calls, by the number that it had (0: none). Its new number; null: it is refused. */
  called(had: number): number | null {
    return had === 0 && this.#phase !== "over" ? ++this.#numbers : null;
  }

  /** It has proven to be of use. */
  joined(volunteer: number): void {
    assert(volunteer >= 1 && volunteer <= this.#numbers && !this.#free.includes(volunteer), "a volunteer joins once");
    if (this.#phase === "over") return;
    const node = this.#vacant.shift();
    if (node !== undefined) this.#ports.take(node, volunteer);
    else {
      this.#free.push(volunteer);
      if (this.#phase === "gathering") this.#beginIfComplete();
    }
  }

  /** It is gone. Nothing follows where it had a place: that it is lost is the dispatcher's to say. */
  gone(volunteer: number): void {
    const at = this.#free.indexOf(volunteer);
    if (at >= 0) this.#free.splice(at, 1);
  }

  /** A place was lost, and its ranks can begin again. Who takes it; null: nobody yet. */
  successorOf(node: number): number | null {
    assert(!this.isVacant(node), `place ${node} is vacant already`);
    const volunteer = this.#free.shift();
    if (volunteer !== undefined) return volunteer;
    if (this.#options.startsOwn) return ownProcess;
    this.#vacant.push(node);
    return null;
  }

  /** The job ends. The places that no process has: nobody will end there. */
  end(): number[] {
    const vacant = this.#phase === "gathering" ? [...Array(this.#options.nodes).keys()] : this.#vacant.splice(0);
    this.#phase = "over";
    return vacant;
  }

  #beginIfComplete(): void {
    const { nodes } = this.#options;
    if (this.#free.length < nodes) return;
    const first = this.#free.splice(0, nodes);
    this.#takeAll((node) => first[node]!);
  }

  #takeAll(volunteerOf: (node: number) => number): void {
    this.#phase = "running";
    for (let node = 0; node < this.#options.nodes; node++) this.#ports.take(node, volunteerOf(node));
  }
}
