/** What a process that stands still for a checkpoint has sent to the other members of its set (ft/set-split.ts). */
import { forEachSend } from "../coll/engine/compiled-schedule.ts";
import type { SentInSet, WaitingMessage } from "../ft/set-split.ts";
import { isWaiting, R_BYTES, R_CONTEXT, R_PEER, R_SEQUENCE, R_TAG, recordWords } from "../request/records.ts";
import { rankIn } from "./collective-messages.ts";
import type { Process } from "./process.ts";

/** `setOf`: set of each rank. */
export function sentInSet(process: Process, setOf: readonly number[]): SentInSet[] {
  const { rank, engine } = process;
  const unsent = unsentOf(process);
  const others = [...setOf.keys()].filter((other) => other !== rank && setOf[other] === setOf[rank]);
  return others.map((to) => ({
    from: rank,
    to,
    next: (engine.outbox.numbers.last(to) + 1) | 0,
    unsent: unsent.get(to) ?? [],
    waiting: waitingFor(process, to),
  }));
}

/** Numbers that collectives have for rounds that have not begun, by the rank that they are for. */
function unsentOf({ collectives }: Process): Map<number, number[]> {
  const numbers = new Map<number, number[]>();
  for (const operation of collectives.operations) {
    const comm = collectives.communicatorOf(operation);
    let at = 0;
    forEachSend(operation.program, (peer, local) => {
      const index = at++;
      if (index < operation.nextNumber || index >= operation.numbers.length) return;
      const to = rankIn(comm, peer, local);
      numbers.set(to, [...(numbers.get(to) ?? []), operation.numbers[index]!]);
    });
  }
  return numbers;
}

/** Sends whose envelopes are with their receiver, and whose bytes are not. In the order of their numbers. */
function waitingFor({ engine }: Process, to: number): WaitingMessage[] {
  const { words } = engine.records;
  const waiting: WaitingMessage[] = [];
  for (let at = 0; at < words.length; at += recordWords) {
    if (words[at + R_PEER] !== to || !isWaiting(words, at)) continue;
    waiting.push([words[at + R_SEQUENCE]!, words[at + R_CONTEXT]!, words[at + R_TAG]!, words[at + R_BYTES]!]);
  }
  return waiting.sort(([one], [other]) => (one - other) | 0);
}
