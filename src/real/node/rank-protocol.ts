/** The protocol of a rank, as its setup says; and how a rank that has had a life before takes it up. */
import { LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { NewProtocol, Protocol } from "../../core/ft/protocol.ts";
import { membersOf } from "../../core/service/correlated-sets.ts";
import type { Napper } from "../process/waiting.ts";
import { DeterminantWriter } from "./determinant-writer.ts";
import { bellOf, quietBellOf } from "./node-words.ts";
import type { LogFull, RankCaughtUp, RankSetup } from "./rank-messages.ts";
import { SpillFile } from "./spill-file.ts";

export interface RankProtocol {
  /** Null: `none`, and nothing is asked. */
  readonly protocol: NewProtocol | null;
  /** Boards go past the messages: only where nobody must see those, and where all who use one fall together (rule 12). */
  readonly mayUseBoards: boolean;
  /** See `RankOptions`. */
  readonly set: number;
  /** Who is captured together with this rank: its set; without sets everybody, undefined. */
  readonly members: readonly number[] | undefined;
  /** For a rank that has nothing to do; null: it need not be asked. */
  readonly napper: Napper | null;
}

export function protocolOf(
  { rank, nodeOf, incarnation, logging: setup, words }: RankSetup,
  say: (message: LogFull) => void,
): RankProtocol {
  if (setup === null) {
    return {
      protocol: null,
      mayUseBoards: true,
      set: -1,
      members: undefined,
      napper: null,
    };
  }
  const { setOf } = setup;
  const stream = new DeterminantWriter(setup.stream, bellOf(words), quietBellOf(words));
  const payloads = {
    bytesMax: setup.logBytesMax,
    spill: new SpillFile({ folder: setup.spillFolder, rank, incarnation }),
    full: (sets: readonly number[]) => say({ kind: "log-full", sets }),
  };
  const options = { rank, setOf: Int32Array.from(setOf), stream, payloads, passed: setup.passed };
  const mayUseBoards = nodeOf.every((node, other) => node !== nodeOf[rank] || setOf[other] === setOf[rank]);
  const members = membersOf(setOf)[setOf[rank]!]!;
  return {
    protocol: (ports) => new LoggingProtocol(options, ports),
    mayUseBoards,
    set: setOf[rank]!,
    members,
    napper: stream,
  };
}

/** After a restore, or in place of it, before the program goes on. */
export function takeUp(
  protocol: Protocol | null,
  { logging: setup, incarnation }: RankSetup,
  say: (message: RankCaughtUp) => void,
): void {
  protocol?.begin({
    incarnation,
    incarnations: setup?.incarnations ?? [],
    data: setup?.restart ?? undefined,
    caughtUp: () => say({ kind: "caught-up", incarnation }),
  });
}
