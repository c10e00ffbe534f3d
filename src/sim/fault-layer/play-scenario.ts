/** Plays a scenario of the fault-simulation layer that is written down (scenario-text.ts): nothing is left to chance, and everything is traced. */
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { Steps } from "../sim-process.ts";
import type { LayeredRank } from "./layered-rank.ts";
import { runLayered } from "./layered-world.ts";
import { saidText } from "./said-text.ts";
import type { ScenarioCall, TextScenario } from "./scenario-text.ts";

const tag = 1;
const nowhere = 0 as Pointer;

const errorText = (error: number): string =>
  error === 0 ? "ok" : (Object.entries(ErrorClass).find(([, value]) => value === error)?.[0] ?? `error ${error}`);

/** A call that cannot be made. */
class ScenarioError extends Error {}

/** What one rank has by the names of the scenario. */
class ScenarioRank {
  readonly #rank: LayeredRank;
  readonly #communicators = new Map<string, Communicator>();
  readonly #requests = new Map<string, { readonly request: RecordId; readonly at: Pointer }>();
  /** By context, of all ranks: for the trace. */
  readonly #names: Map<number, string>;

  constructor(rank: LayeredRank, names: Map<number, string>) {
    this.#rank = rank;
    this.#names = names;
    this.#communicators.set("world", rank.world);
    names.set(rank.world.context, "world");
  }

  /** How the call ended. */
  *make({ name, words: [first = "", second = "", ...others], text }: ScenarioCall): Steps<string> {
    const rank = this.#rank;
    const { operations, process } = rank;
    switch (name) {
      case "compute":
        yield process.compute(1_000 * numberIn(first, text));
        return "";
      case "split": {
        const parent = this.#comm(second, text);
        if (others.length !== parent.size)
          throw new ScenarioError(`Cannot "${text}": ${second} has ${parent.size} members, and as many colours`);
        return this.#name(first, yield* rank.split(parent, numberIn(others[parent.rank]!, text)));
      }
      case "shrink":
        return this.#name(first, yield* rank.shrink(this.#comm(second, text)));
      case "barrier":
        return errorText(yield* rank.barrier(this.#comm(first, text)));
      case "bcast": {
        const { error, words } = yield* rank.broadcast(...this.#member(first, second, text), [rank.rank]);
        return error === 0 ? `ok, from ${words[0]}` : errorText(error);
      }
      case "sum": {
        const { error, words } = yield* rank.sum(this.#comm(first, text), [1]);
        return error === 0 ? `ok, ${words[0]}` : errorText(error);
      }
      case "agree": {
        const { error, flags } = yield* rank.agree(this.#comm(first, text), numberIn(second, text));
        return `${errorText(error)}, ${flags}`;
      }
      case "send":
        return errorText(yield* rank.send(...this.#member(first, second, text), tag, [rank.rank]));
      case "receive": {
        const { error, words } = yield* rank.receive(...this.#member(first, second, text), tag, 1);
        return error === 0 ? `ok, from ${words[0]}` : errorText(error);
      }
      case "ibarrier":
        return this.#start(first, rank.equal(this.#comm(second, text), "barrier", nowhere, nowhere, {}), nowhere);
      case "ibcast": {
        const [comm, root] = this.#member(second, others[0]!, text);
        const at = rank.put([rank.rank]);
        return this.#start(first, rank.equal(comm, "bcast", nowhere, at, { bytes: 4, root }), at);
      }
      case "wait": {
        const started = this.#requests.get(first);
        if (started === undefined) throw new ScenarioError(`Cannot "${text}": rank ${rank.rank} has not started it`);
        this.#requests.delete(first);
        const error = yield* rank.end(started.request, text);
        if (started.at !== nowhere) rank.take(started.at, 1);
        return errorText(error);
      }
      case "revoke":
        operations.revoke(this.#comm(first, text));
        return "";
      default:
        operations.freeCommunicator(this.#comm(first, text));
        return "";
    }
  }

  #comm(name: string, text: string): Communicator {
    const comm = this.#communicators.get(name);
    if (comm !== undefined) return comm;
    throw new ScenarioError(`Cannot "${text}": rank ${this.#rank.rank} has no communicator ${name}`);
  }

  /** A communicator, and the number of a member of it. */
  #member(name: string, word: string, text: string): [Communicator, number] {
    const comm = this.#comm(name, text);
    const place = numberIn(word, text);
    if (place < comm.size) return [comm, place];
    throw new ScenarioError(`Cannot "${text}": ${name} has ranks 0 to ${comm.size - 1}`);
  }

  #name(name: string, comm: Communicator | null): string {
    if (comm === null) return "none";
    this.#communicators.set(name, comm);
    this.#names.set(comm.context, name);
    return "ok";
  }

  #start(name: string, request: RecordId, at: Pointer): string {
    this.#requests.set(name, { request, at });
    return "started";
  }
}

function numberIn(word: string, text: string): number {
  if (/^\d{1,9}$/.test(word)) return Number(word);
  throw new ScenarioError(`Cannot "${text}": "${word}" is no number from 0 on`);
}

/** What happens, line by line; the last ones say who waits for ever, and what is left behind. A text instead: which call cannot be made, and why. */
export function playScenario(scenario: TextScenario): string[] | string {
  try {
    return linesOf(scenario);
  } catch (error) {
    if (error instanceof ScenarioError) return error.message;
    throw error;
  }
}

function linesOf({ ranks, fanOut, background, calls }: TextScenario): string[] {
  const lines: string[] = [];
  const names = new Map<number, string>();
  const { stuck, left } = runLayered(
    {
      ranks,
      fanOut,
      background,
      cost: { jitterNs: 0 },
      heard: (from, to, kind, words, comm) => {
        const place = comm === null ? "" : (names.get(comm.context) ?? "a communicator of the runtime");
        lines.push(saidText(from, to, kind, words, place));
      },
    },
    function* (rank) {
      const own = new ScenarioRank(rank, names);
      for (const call of calls) {
        if (!call.ranks.includes(rank.rank)) continue;
        if (call.name === "die") {
          lines.push(`${rank.rank} dies`);
          return yield* rank.die();
        }
        const end = yield* own.make(call);
        lines.push(`${rank.rank} ${call.text}${end === "" ? "" : `: ${end}`}`);
      }
      yield* rank.finalize();
      lines.push(`${rank.rank} ends`);
    },
  );
  return [...lines, ...stuck, ...left];
}
