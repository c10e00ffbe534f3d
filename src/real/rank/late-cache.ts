/**
 * The cache of a rank's code (`node/rank-code.ts`), which a rank makes when its program is over: V8 has compiled by then what ranks need until their end.
 */
import { FlagsBefore } from "../../v8/flags-before.ts";
import type { RankSetup } from "../messages/rank-messages.ts";

export class LateCache {
  readonly #flags = new FlagsBefore();
  readonly #create: () => Uint8Array;

  /** Null: there is one already, or another rank makes it. `create`: given by the loader. Before flags of V8 are set. */
  static for({ rank, code }: Pick<RankSetup, "rank" | "code">, create: () => Uint8Array): LateCache | null {
    return rank === 0 && code.cacheMissing !== "" ? new LateCache(create) : null;
  }

  private constructor(create: () => Uint8Array) {
    this.#create = create;
  }

  make(): Uint8Array | undefined {
    return this.#flags.under(this.#create());
  }
}
