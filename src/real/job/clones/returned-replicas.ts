/** Lost replicas that have come back as clones, for the summary; and what people are told, once for all that came back together. */
import type { ClonedReplica } from "../../../core/ft/clones.ts";
import type { JobReport } from "../report/job-report.ts";

export class ReturnedReplicas {
  readonly #report: Pick<JobReport, "note" | "names">;
  /** By process that ever died: when it did, the last time. */
  readonly #diedMs = new Map<number, number>();
  readonly #clones: ClonedReplica[] = [];
  /** Those that nobody was told of: they are told together. */
  readonly #untold: number[] = [];

  constructor(report: Pick<JobReport, "note" | "names">) {
    this.#report = report;
  }

  get all(): readonly ClonedReplica[] {
    return this.#clones;
  }

  /** Those that ever died, also when they are back. */
  get everLost(): Iterable<number> {
    return this.#diedMs.keys();
  }

  died(process: number): void {
    const at = this.#untold.indexOf(process);
    if (at >= 0) this.#untold.splice(at, 1);
    this.#diedMs.set(process, performance.now());
  }

  /** Everybody knows the clone. */
  came(process: number, { spare, ...clone }: Omit<ClonedReplica, "afterMs">): void {
    this.#clones.push({ ...clone, afterMs: performance.now() - this.#diedMs.get(process)!, spare });
    this.#untold.push(process);
  }

  /** In order. */
  get untold(): readonly number[] {
    return this.#untold.toSorted((one, other) => one - other);
  }

  /** `spares`: those that they are on. */
  tell(spares: readonly number[]): void {
    const { names } = this.#report;
    const { afterMs } = this.#clones.at(-1)!;
    const where = spares.length === 0 ? "" : `, on spare ${spares.join(" and ")}`;
    const back = names.listed(this.untold);
    this.#untold.length = 0;
    this.#report.note(`${back} came back, ${(afterMs / 1000).toFixed(2)} s after the loss${where}`);
  }
}
