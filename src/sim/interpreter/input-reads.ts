/** Reads of standard input, which rank 0 has. Under a protocol that replays the length of each is a choice, as for C programs. */
import { choosingInput } from "../../abi/replay/library-choices.ts";
import { mixed } from "../script/mixed-number.ts";
import type { Steps } from "../sim-process.ts";
import type { ScriptState } from "./script-state.ts";

export function* readInput(state: ScriptState, room: number): Steps {
  const { process, files, outside } = state;
  const number = state.inputReads++;
  const read = inputOf(state);
  const bytes = new Uint8Array(room);
  const got = yield* files.calls.run(process, () => read(bytes));
  state.observe(got, mixed(...bytes.subarray(0, got)));
  outside.input.read(number, bytes.slice(0, got));
}

type Read = (bytes: Uint8Array) => number;

function inputOf(state: ScriptState): Read {
  const { calls } = state.files;
  const { given, core } = state;
  const read: Read = (bytes) => {
    calls.waitUntil("standard input", () => hasInput(state));
    const piece = calls.once(() => given.unread.splice(0, bytes.length));
    bytes.set(piece);
    return piece.length;
  };
  return core.choices === null ? read : choosingInput({ read }, calls.choices(core.choices)).read;
}

/** Asks for a piece where the rank has none. */
function hasInput(state: ScriptState): boolean {
  const { given, rank, outside } = state;
  if (given.unread.length > 0 || given.hasEnded) return true;
  const { offset } = given;
  if (state.askedFor !== offset) {
    state.askedFor = offset;
    const hear = (piece: { readonly offset: number; readonly bytes: Uint8Array | null }): void => {
      // A piece for an earlier life is dropped: it will be given again.
      if (piece.offset !== given.offset || state.askedFor !== offset) return;
      state.askedFor = -1;
      given.hasEnded = piece.bytes === null;
      given.unread.push(...(piece.bytes ?? []));
      given.offset += piece.bytes?.length ?? 0;
    };
    outside.travel(rank, () => outside.input.want(rank, offset, hear));
  }
  return given.unread.length > 0 || given.hasEnded;
}
