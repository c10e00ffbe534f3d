/**
 * `banyan move` in a job of which nothing is kept elsewhere: all ranks stop inside MPI calls, images of them are written when nothing is under way between any two, every
 * process of the job ends, and its ranks go on from the images in new ones, in other places (core/service/moved-places.ts). What a freeze and a thaw
 * would do, in one command: lines and input are counted on, so none is lost and none comes twice.
 *
 * This part says whether that can be, and has the ranks stop; the job does the rest when all of them have (job.ts).
 */
import { type PlaceOrder, type Places, placesAfter } from "../../../core/service/moved-places.ts";
import { producersMax } from "../../transport/layout.ts";
import type { JobReport } from "../report/job-report.ts";

interface JobRelocationOptions extends Omit<Places, "started"> {
  /** The fault plan; null: none. */
  readonly faults: object | null;
  readonly trace: object | undefined;
  /** 0: nobody debugs it. */
  readonly debugPort: number;
}

interface JobRelocationParts {
  /** Has all ranks stop (job-freezing.ts). */
  readonly freezing: {
    /** Why it cannot now; empty: it can. */
    readonly obstacle: string;
    begin(move: { failed(): void }): void;
  };
  readonly report: Pick<JobReport, "note" | "names">;
  /** Why others cannot go on with its program, as its ranks run it; empty: they can. */
  readonly program: { readonly obstacle: string };
  /** Why there can be no images of all ranks at once; undefined: there can. */
  readonly refusal: string | undefined;
}

type Relocated = Exclude<ReturnType<typeof placesAfter>, string>;

/** Ranks on their way to other places. */
export interface Relocation extends Relocated {
  readonly orderedMs: number;
}

export class JobRelocation {
  readonly #options: JobRelocationOptions;
  readonly #parts: JobRelocationParts;
  #underWay: Relocation | null = null;
  #hasBegun = false;

  constructor(options: JobRelocationOptions, parts: JobRelocationParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Every rank has begun to run its program. */
  allBegan(): void {
    this.#hasBegun = true;
  }

  /** Null: the job is not being moved, or could not be. */
  get underWay(): Relocation | null {
    return this.#underWay;
  }

  /** Returns the obstacle; empty: the ranks are stopping. */
  begin(order: Omit<PlaceOrder, "ofNodeMax">): string {
    const { freezing, report } = this.#parts;
    const refusal = this.#refusal();
    if (refusal !== "") return refusal;
    const after = placesAfter(this.#places, { ...order, ofNodeMax: producersMax });
    if (typeof after === "string") return after;
    this.#underWay = { ...after, orderedMs: performance.now() };
    report.note(`${report.names.listed(after.ranks)} will go on elsewhere: all ranks stop for that`);
    freezing.begin({ failed: () => this.#failed() });
    return "";
  }

  #failed(): void {
    this.#underWay = null;
  }

  get #places(): Places {
    const { ranks, nodes, placement, starts } = this.#options;
    return { ranks, nodes, placement, starts, started: Math.max(...starts) };
  }

  #refusal(): string {
    const { refusal, freezing, program } = this.#parts;
    const { faults, trace, debugPort } = this.#options;
    if (refusal !== undefined)
      return `lost ranks of this job do not begin again elsewhere, and there can be no images of all of them at once: ${refusal}; run it with --sustain, or under a protocol that takes checkpoints`;
    if (!this.#hasBegun) return "not all of its ranks have begun; try again when they have";
    if (this.#underWay !== null) return "ranks are being moved; try again when they are there";
    if (faults !== null) return "it has a fault plan, whose times and victims are those of the processes that it has";
    if (trace !== undefined) return "it writes a trace, which shows the processes that it has";
    if (debugPort !== 0) return "it is being debugged";
    return program.obstacle || freezing.obstacle;
  }
}
