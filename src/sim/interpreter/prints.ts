/** Printing: a piece of a line leaves when the protocol allows it (rule 2), and tells its rank's history so far. */
import type { Write } from "../../core/ft/protocol.ts";
import { passOver } from "../../core/service/line-places.ts";
import { pieceText } from "../script/printed-text.ts";
import type { Steps } from "../sim-process.ts";
import type { ScriptState } from "./script-state.ts";

export function* print(state: ScriptState, endsLine: boolean): Steps {
  const { rank, outside, line } = state;
  const piece = state.pieces++;
  const text = pieceText({ rank, piece, history: state.history }, endsLine);
  yield* mayLeave(state, "line");
  outside.output.printed(rank, piece, text);
  const place = { ...line };
  outside.travel(rank, () => outside.output.offer(rank, place, text));
  passOver(line, new TextEncoder().encode(text));
}

/** Like a real rank's gate: the program stands still meanwhile, and only messages progress. */
function* mayLeave(state: ScriptState, kind: Write["kind"]): Steps {
  const { protocol } = state.core;
  if (protocol === null) return;
  const write = { kind, number: state.writes++ };
  if (protocol.writeMayLeave(write)) return;
  state.outside.output.counts.heldBack++;
  yield state.process.settle(`a ${kind} to leave`, () => protocol.writeMayLeave(write));
}
