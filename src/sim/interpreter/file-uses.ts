/**
 * The actions of ranks on files. Under a protocol that replays they go through `ReplayedFiles`, as for C programs. That waits
 * inside a call until a choice is stable, which a simulated rank cannot: the call is given up, and made again with the answers
 * it got.
 */
import { ReplayedFiles } from "../../abi/replay/replayed-files.ts";
import type { ChoiceKind, Choices, Outcome } from "../../core/ft/choices.ts";
import type { Protocol, Write } from "../../core/ft/protocol.ts";
import type { Files } from "../../wasi/ports.ts";
import { beganMs } from "../outside/rank-files.ts";
import { errorTold, fileSteps } from "../script/file-steps.ts";
import { pieceText } from "../script/printed-text.ts";
import type { FileOp } from "../script/script.ts";
import type { Steps } from "../sim-process.ts";
import type { ScriptState } from "./script-state.ts";

class NotYet extends Error {}

/** The choices of one call, which may have to be made several times. */
class CallChoices implements Choices {
  readonly #choices: Choices;
  readonly #protocol: Protocol;
  /** The choices made so far in this call, in order; null stands for an effect that others have seen. */
  #past: (Outcome | undefined)[] = [];
  #at = 0;
  write: Write | null = null;

  constructor(protocol: Protocol, choices: Choices) {
    this.#protocol = protocol;
    this.#choices = choices;
  }

  begin(isNew: boolean): void {
    if (isNew) this.#past = [];
    if (isNew) this.write = null;
    this.#at = 0;
  }

  #once(act: () => Outcome | undefined): Outcome | undefined {
    if (this.#at === this.#past.length) this.#past.push(act());
    return this.#past[this.#at++];
  }

  replay(kind: ChoiceKind): Outcome | undefined {
    return this.#once(() => this.#choices.replay(kind));
  }

  made(kind: ChoiceKind, outcome: readonly number[]): void {
    this.#once(() => {
      this.#choices.made(kind, outcome);
      return null;
    });
  }

  nothing(kind: ChoiceKind): void {
    this.#once(() => {
      this.#choices.nothing(kind);
      return null;
    });
  }

  /** `number`: that of the next effect that leaves the rank. A call changes the files once at most. */
  mayLeave(number: number): void {
    this.write ??= { kind: "file", number };
    if (!this.#protocol.writeMayLeave(this.write)) throw new NotYet();
  }
}

interface LifeFiles {
  readonly files: Files;
  readonly call: CallChoices | null;
}

/** By the state of one life. */
const lives = new WeakMap<ScriptState, LifeFiles>();

function filesOf(state: ScriptState): LifeFiles {
  let life = lives.get(state);
  if (life === undefined) {
    life = newFiles(state);
    lives.set(state, life);
  }
  return life;
}

function newFiles(state: ScriptState): LifeFiles {
  const { system } = state.outside.files;
  const { protocol, choices } = state.core;
  if (protocol === null || choices === null) return { files: system, call: null };
  const call = new CallChoices(protocol, choices);
  const mayLeave = (): void => call.mayLeave(state.writes++);
  return { call, files: new ReplayedFiles({ files: system, choices: call, mayLeave, beganMs }) };
}

export function* useFile(state: ScriptState, op: FileOp): Steps {
  const { rank, outside } = state;
  const number = state.fileUses++;
  const text = pieceText({ rank, piece: number, history: state.history }, true);
  const steps = fileSteps({ op, text, log: state.log, folder: outside.files.folderOf(rank) });
  let told: readonly number[];
  try {
    let next = steps.next();
    while (next.done !== true) next = steps.next(yield* call(state, next.value));
    told = next.value;
  } catch (error) {
    told = [errorTold(error)];
  }
  state.observe(...told);
  outside.files.done(rank, number, { op, text, told });
}

function* call(state: ScriptState, perform: (files: Files) => unknown): Steps<unknown> {
  const { files, call } = filesOf(state);
  const { protocol } = state.core;
  for (let isFirst = true; ; isFirst = false) {
    call?.begin(isFirst);
    try {
      return perform(files);
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
    }
    const write = call!.write!;
    state.outside.files.counts.heldBack++;
    yield state.process.settle("a file to be changed", () => protocol!.writeMayLeave(write));
  }
}
