/** The protocol of a rank, as its setup says. */

import { assert } from "../../core/base/assert.ts";
import { playersOf, roleOf } from "../../core/base/players.ts";
import { type Clock, chosenTime } from "../../core/ft/clock-choice.ts";
import type { ProtocolDefinition } from "../../core/ft/definition.ts";
import type { NewProtocol } from "../../core/ft/protocol.ts";
import { protocolNamed } from "../../core/ft/protocol-named.ts";
import { membersBySet } from "../../core/ft/sets.ts";
import type { Process } from "../../core/process/process.ts";
import type { Placement } from "../../core/service/placement.ts";
import type { PlaneRecorder } from "../data-plane/plane-recorder.ts";
import type { ProtocolWords, RankCaughtUp, RankSetup } from "../messages/rank-messages.ts";
import type { ProgramLayer } from "../part-hosts/rank-part.ts";
import type { Napper } from "../process/waiting.ts";
import { rankParts } from "../protocol-parts/rank-parts.ts";

export interface RankProtocol {
  readonly definition: ProtocolDefinition;
  /** Null: the rank has none, and nothing is asked. */
  readonly protocol: NewProtocol | null;
  readonly mayUseBoards: boolean;
  /** See `RankOptions`. */
  readonly set: number;
  /** The ranks that are captured together with this one: its set; without sets all of them, undefined. */
  readonly members: readonly number[] | undefined;
  /** For a rank that has nothing to do; null: it need not be asked. */
  readonly napper: Napper | null;
  /** See `RankPart`; null: choices are not rehearsed. */
  readonly rehearse: (() => void) | null;
  /** Stands between the program and its process; null: nothing does. */
  readonly layer: ProgramLayer | null;
  /** See `RankPart`. */
  readonly mayMeetPastLayer: boolean;
  /** See `RankPart`; null also where ranks of other sets send messages: the protocol must see those. */
  readonly recorder: PlaneRecorder | null;
}

export function protocolOf(setup: RankSetup, say: (message: ProtocolWords) => void): RankProtocol {
  const { rank, placement, incarnation, protocol: name, protocolOptions: options, words, recovery } = setup;
  const definition = protocolNamed(name);
  assert(definition !== undefined, `there is no protocol ${name}`);
  const part = rankParts[name]?.({
    rank,
    incarnation,
    options,
    seed: setup.seed,
    part: setup.protocolPart,
    words,
    say: (said) => say({ kind: "protocol", words: said }),
  });
  const setOf = Int32Array.from(recovery?.setOf ?? placement.map(() => 0));
  const passed = recovery?.passed ?? new Float64Array(1);
  const resources = part?.resources;
  return {
    definition,
    protocol: definition.rank?.({ ...roleOf(setup), setOf, options, passed, resources }) ?? null,
    mayUseBoards: mayUseBoards(definition, rank, placement, setOf),
    set: recovery === null ? -1 : setOf[rank]!,
    members: recovery === null ? undefined : membersOf(setup, setOf),
    napper: part?.napper ?? null,
    rehearse: part?.rehearse ?? null,
    layer: part?.layer ?? null,
    mayMeetPastLayer: part?.mayMeetPastLayer ?? false,
    recorder: fallsWithNode(rank, placement, setOf) ? (part?.recorder ?? null) : null,
  };
}

/** By their ranks: of several processes that play one, each is captured for itself. */
function membersOf({ rank, ranks, replicas }: RankSetup, setOf: Int32Array): readonly number[] {
  if (replicas !== null) return [roleOf({ rank, ranks, replicas }).rank];
  return membersBySet([...setOf])[setOf[rank]!]!;
}

/** For measurements: collectives go by messages then, as they do under protocols whose ranks have no boards. */
const collectivesVariable = "BANYAN_COLLECTIVES";

/** Boards go past the messages: only where nobody must see those, and where all that use one fall together (rule 12). */
function mayUseBoards({ boards }: ProtocolDefinition, rank: number, placement: Placement, setOf: Int32Array): boolean {
  if (process.env[collectivesVariable] === "messages") return false;
  if (boards !== "inside a set") return boards === "always";
  return fallsWithNode(rank, placement, setOf);
}

/** Are all ranks of its node of its set? */
function fallsWithNode(rank: number, placement: Placement, setOf: Int32Array): boolean {
  return placement.every((node, other) => node !== placement[rank] || setOf[other] === setOf[rank]);
}

/** After a restore, or in place of it, before the program goes on. */
export function beginLife(
  process: Process,
  { ranks, incarnation, recovery }: RankSetup,
  say: (message: RankCaughtUp) => void,
): void {
  process.beginLife({
    incarnation,
    incarnations: recovery?.incarnations ?? new Array<number>(ranks).fill(0),
    data: recovery?.restart?.data,
    caughtUp: () => say({ kind: "caught-up", incarnation }),
  });
}

/** Otherwise the first message behind the program's first reading of a clock would wait for code that has never run, here and in three other processes (ADR 88). */
export function rehearseChoices({ rehearse }: RankProtocol, { choices }: Process, clock: Clock): void {
  if (rehearse === null || choices === null) return;
  chosenTime(choices, clock);
  rehearse();
}

/** A clone, which has begun: deaths that its node has heard of, some of them after those that it begins with. */
export function hearDeaths(process: Process, { replicas, deaths }: RankSetup): void {
  if (replicas === null) return;
  const players = playersOf(replicas);
  for (const { rank, incarnation } of deaths) process.peerFailed(players[rank]!, incarnation);
}
