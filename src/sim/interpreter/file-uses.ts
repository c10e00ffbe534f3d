/** The actions of ranks on files of their own. */
import { errorTold, fileSteps } from "../script/file-steps.ts";
import { pieceText } from "../script/printed-text.ts";
import type { FileOp } from "../script/script.ts";
import type { Steps } from "../sim-process.ts";
import type { ScriptState } from "./script-state.ts";

export function* useFile(state: ScriptState, op: FileOp): Steps {
  const { rank, outside, files, process } = state;
  const number = state.fileUses++;
  const text = pieceText({ rank, piece: number, history: state.history }, true);
  const steps = fileSteps({ op, text, log: state.log, folder: outside.files.folderOf(rank) });
  const before = files.calls.interruptions;
  let told: readonly number[];
  try {
    let next = steps.next();
    while (next.done !== true) {
      const { value: call } = next;
      next = steps.next(yield* files.calls.run(process, () => call(files.port)));
    }
    told = next.value;
  } catch (error) {
    told = [errorTold(error)];
  }
  outside.files.counts.heldBack += files.calls.interruptions - before;
  state.observe(...told);
  outside.files.done(rank, number, { op, text, told });
}
