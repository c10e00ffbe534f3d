/** The protocol of a rank, as its setup says; and how a rank that has had a life before takes it up. */
import { type Logged, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { Protocol } from "../../core/ft/protocol.ts";
import { membersOf } from "../../core/service/correlated-sets.ts";
import type { Napper } from "../process/waiting.ts";
import { DeterminantWriter } from "./determinant-writer.ts";
import { bellOf, quietBellOf } from "./node-words.ts";
import type { LogFull, RankCaughtUp, RankSetup } from "./rank-messages.ts";
import { SpillFile } from "./spill-file.ts";

export interface RankProtocol {
  /** Null: `none`, and nothing is asked. */
  readonly protocol: Protocol | null;
  readonly logging: LoggingProtocol | null;
  /** Boards go past the messages: only where nobody must see those, and where all who use one fall together (rule 12). */
  readonly mayUseBoards: boolean;
  /** Who is captured together with this rank: its set; without sets everybody, undefined. */
  readonly members: readonly number[] | undefined;
  /** For a rank that has nothing to do; null: it need not be asked. */
  readonly napper: Napper | null;
  /** Where the stream of determinants of its set is. */
  position(): number;
  /** How many calls it has passed; the same ones in every life. */
  callsPassed(): number;
  /** What the rank has logged so far. */
  logged(): Logged;
  /** No older checkpoint of that set will be restored. */
  oldest(set: number, checkpoint: number): void;
}

export function protocolOf(
  { rank, nodeOf, incarnation, logging: setup, words }: RankSetup,
  say: (message: LogFull) => void,
): RankProtocol {
  if (setup === null) {
    return {
      protocol: null,
      logging: null,
      mayUseBoards: true,
      members: undefined,
      napper: null,
      position: () => 0,
      callsPassed: () => 0,
      logged: () => ({ bytesTo: [], messages: 0, determinantBytes: 0 }),
      oldest() {},
    };
  }
  const { setOf } = setup;
  const stream = new DeterminantWriter(setup.stream, bellOf(words), quietBellOf(words));
  const payloads = {
    bytesMax: setup.logBytesMax,
    spill: new SpillFile({ folder: setup.spillFolder, rank, incarnation }),
    full: (sets: readonly number[]) => say({ kind: "log-full", sets }),
  };
  const logging = new LoggingProtocol({ rank, setOf: Int32Array.from(setOf), stream, payloads, passed: setup.passed });
  const mayUseBoards = nodeOf.every((node, other) => node !== nodeOf[rank] || setOf[other] === setOf[rank]);
  const members = membersOf(setOf)[setOf[rank]!]!;
  return {
    protocol: logging,
    logging,
    mayUseBoards,
    members,
    napper: stream,
    position: () => stream.born,
    callsPassed: () => logging.callsPassed,
    logged: () => logging.logged,
    oldest(set, checkpoint) {
      if (set === setOf[rank]) logging.oldestIs(checkpoint);
    },
  };
}

/** After a restore, or in place of it, before the program goes on. */
export function takeUp(
  { logging }: RankProtocol,
  { logging: setup }: RankSetup,
  say: (message: RankCaughtUp) => void,
): void {
  if (logging === null || setup === null || setup.restart === null) return;
  const { incarnation, log } = setup.restart;
  const caughtUp = (): void => say({ kind: "caught-up", incarnation });
  logging.restart({ incarnation, incarnations: setup.incarnations, log, caughtUp });
}
