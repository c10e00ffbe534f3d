/**
 * Where the ranks of a job are: asks the nodes, and waits a second at most for their answers. Looks by itself, now and then, while a
 * rank has come to the end of its program and others have not: a rank that waits for such a one waits for ever, and the job ends.
 */
import type { Dispatcher } from "../../core/service/dispatcher.ts";
import type { RankState } from "../../core/service/dispatcher-state.ts";
import { HopelessWaits } from "../../core/service/hopeless-waits.ts";
import type { Placement } from "../../core/service/placement.ts";
import { deferred } from "../machine/deferred.ts";
import type { ToNode } from "../messages/node-messages.ts";
import type { RankPlace } from "../messages/whereabouts.ts";
import type { ProcessNames } from "./report/process-names.ts";
import { type RankStanding, waitText } from "./report/whereabouts-table.ts";

/** A node that does not answer for so long is shown as such. */
const answerMsMax = 1_000;
/** Between two looks for waits that cannot end. */
const lookEveryMs = 1_000;

interface JobWhereaboutsPorts {
  readonly core: Pick<Dispatcher, "state" | "outcome" | "isNodeAlive" | "stuck">;
  readonly names: ProcessNames;
  /** Ranks whose programs have ended without MPI_Finalize. */
  readonly unfinalized: ReadonlySet<number>;
  send(node: number, message: ToNode): void;
  /** No rank is being started again, or on its way to where it was. */
  isQuiet(): boolean;
}

interface Question {
  /** Of each rank, when the question was asked. */
  readonly states: readonly RankState["state"][];
  readonly missing: Set<number>;
  readonly places: Map<number, RankPlace>;
  /** All have answered that will. */
  done(): void;
}

export class JobWhereabouts {
  readonly #placement: Placement;
  readonly #ports: JobWhereaboutsPorts;
  readonly #hopeless = new HopelessWaits();
  readonly #questions = new Map<number, Question>();
  /** Of each node: how many of its ranks wait at their end. */
  readonly #over = new Map<number, number>();
  #asked = 0;
  #watching: NodeJS.Timeout | undefined;

  constructor(placement: Placement, ports: JobWhereaboutsPorts) {
    this.#placement = placement;
    this.#ports = ports;
  }

  /** Of every rank that there is or was. */
  async look(): Promise<RankStanding[]> {
    const { core } = this.#ports;
    const missing = new Set([...new Set(this.#placement)].filter((node) => core.isNodeAlive(node)));
    const { promise, resolve } = deferred<void>();
    // As of now: a job that is being ended is another one when the last node has answered.
    const states = core.state.ranks.map(({ state }) => state);
    const question = { states, missing, places: new Map<number, RankPlace>(), done: () => resolve() };
    const number = ++this.#asked;
    this.#questions.set(number, question);
    for (const node of missing) this.#ports.send(node, { kind: "where", number });
    const timer = setTimeout(resolve, answerMsMax);
    if (missing.size > 0) await promise;
    clearTimeout(timer);
    this.#questions.delete(number);
    return this.#standings(question);
  }

  answered(node: number, number: number, places: readonly RankPlace[]): void {
    const question = this.#questions.get(number);
    if (question === undefined) return;
    for (const place of places) question.places.set(place.rank, place);
    this.#heardFrom(question, node);
  }

  /** No answer will come from there. */
  nodeEnded(node: number): void {
    for (const question of this.#questions.values()) this.#heardFrom(question, node);
    this.#over.delete(node);
  }

  #heardFrom(question: Question, node: number): void {
    question.missing.delete(node);
    if (question.missing.size === 0) question.done();
  }

  #standings({ states, missing, places }: Question): RankStanding[] {
    const standings: RankStanding[] = [];
    for (const [rank, state] of states.entries()) {
      if (state === "absent") continue;
      const node = this.#placement[rank]!;
      const place = places.get(rank) ?? null;
      const otherwise = missing.has(node) ? "unknown" : "absent";
      const known = state === "done" || state === "finished" ? "finished" : state === "dead" ? "failed" : null;
      standings.push({
        rank,
        node,
        state: known ?? place?.state ?? otherwise,
        place,
      });
    }
    return standings;
  }

  // Waits that cannot end

  /** A sign of life of that node: so many of its ranks wait at their end. */
  heard(node: number, over: number): void {
    this.#over.set(node, over);
    const isWanted = [...this.#over.values()].some((each) => each > 0);
    if (isWanted && this.#watching === undefined) {
      this.#watching = setInterval(() => void this.#judge(), lookEveryMs);
      this.#watching.unref();
    } else if (!isWanted) this.end();
  }

  end(): void {
    clearInterval(this.#watching);
    this.#watching = undefined;
    this.#hopeless.forget();
  }

  async #judge(): Promise<void> {
    const { core, isQuiet } = this.#ports;
    const standings = await this.look();
    // Those that serve others, their programs being over, have places too.
    const isWhole = standings.every(({ state, place }) => place !== null || state === "finished" || state === "failed");
    if (core.outcome !== undefined) return;
    if (!isWhole || !isQuiet()) {
      this.#hopeless.forget();
      return;
    }
    const places = standings.flatMap(({ place }) => (place === null ? [] : [place]));
    const verdict = this.#hopeless.look(places);
    if (verdict === null) return;
    const place = places.find(({ rank }) => rank === verdict.rank)!;
    core.stuck(this.#textOf(place, verdict.awaited, verdict.others), performance.now());
  }

  #textOf(place: RankPlace, awaited: number, others: number): string {
    const { names, unfinalized } = this.#ports;
    const where = `${names.nameOf(place.rank)} on node ${this.#placement[place.rank]} ${waitText(place, names)}`;
    const how = unfinalized.has(awaited) ? "has ended without MPI_Finalize" : "has come to the end of its program";
    const whose = place.peer === awaited ? "which" : names.nameOf(awaited);
    const more = others === 0 ? "" : `; ${others === 1 ? "another rank waits" : `${others} other ranks wait`} as well`;
    return `${where}, ${place.peer === awaited ? "" : "and "}${whose} ${how}${more}`;
  }
}
