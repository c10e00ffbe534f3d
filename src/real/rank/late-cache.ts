/**
 * The cache of a rank's code (`node/rank-code.ts`), which a rank makes when its program is over: V8 has compiled by then what ranks need until their end.
 * Programs call different functions, and what a cache lacks V8 compiles in every run, message by message: so the first run of each program adds to it.
 */
import { createHash } from "node:crypto";
import { FlagsBefore } from "../../v8/flags-before.ts";
import { programNameBytes, type RankCompiled, type RankSetup } from "../messages/rank-messages.ts";

const unnamed = "00".repeat(programNameBytes);

function programName(program: Uint8Array): string {
  return createHash("sha256").update(program).digest("hex").slice(0, unnamed.length);
}

export class LateCache {
  readonly #flags = new FlagsBefore();
  readonly #code: RankSetup["code"];
  readonly #create: () => Uint8Array;

  /** Null: another rank makes it. `create`: given by the loader. Before flags of V8 are set. */
  static for({ rank, code }: Pick<RankSetup, "rank" | "code">, create: () => Uint8Array): LateCache | null {
    return rank === 0 && code.cacheFile !== "" ? new LateCache(code, create) : null;
  }

  private constructor(code: RankSetup["code"], create: () => Uint8Array) {
    this.#code = code;
    this.#create = create;
  }

  /** Undefined: there is one that has what this program needs. Without a program any will do. */
  make(program: Uint8Array | null): Omit<RankCompiled, "kind"> | undefined {
    const { isKept, programs } = this.#code;
    const name = program === null ? unnamed : programName(program);
    if (isKept && (program === null || programs.includes(name))) return undefined;
    const cache = this.#flags.under(this.#create());
    return cache === undefined ? undefined : { cache, program: name };
  }
}
