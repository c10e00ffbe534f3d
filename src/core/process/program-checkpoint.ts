/**
 * A process whose program takes a checkpoint of itself: what keeps it from that, by name, and which of its messages have bytes in
 * its memory. Its program begins anew after a restore, so nothing may be under way that only the old one knows of.
 */
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_FLAGS,
  R_KIND,
  R_MODE,
  R_PEER,
  R_POINTER,
  R_TAG,
  RecordFlag,
  RecordKind,
  recordWords,
} from "../request/records.ts";
import { PacketKind } from "../wire/packet.ts";
import { quietContext } from "./context.ts";
import type { Process } from "./process.ts";

/** The requests and objects that the program has to end first, by name; empty: none. */
export function unfinishedObjects(process: Process): string[] {
  const { engine, world, self } = process;
  const { words } = engine.records;
  const found: string[] = [];
  let envelopes = 0;
  for (let at = 0; at < words.length; at += recordWords) {
    const name = requestName(words, at);
    if (name !== "") found.push(name);
    // One that the protocol has not let in yet is in its books.
    const isAside = (words[at + R_FLAGS]! & RecordFlag.ASIDE) !== 0;
    if (words[at + R_KIND] === RecordKind.ENVELOPE && !isAside) envelopes++;
  }
  if (envelopes > engine.unexpected.count) found.push("a message that mprobe has set aside");
  for (const communicator of process.communicators.values()) {
    if (communicator === world || communicator === self) {
      if (communicator.persistentCollectives > 0) found.push("a persistent collective");
    } else found.push(`a communicator of ${communicator.size} ranks`);
  }
  return found;
}

function requestName(words: Int32Array, at: number): string {
  const [peer, tag, flags] = [words[at + R_PEER]!, words[at + R_TAG]!, words[at + R_FLAGS]!];
  // Our own: marks of a checkpoint that was given up, on their way back.
  if (words[at + R_CONTEXT] === quietContext || (flags & RecordFlag.ORPHAN) !== 0) return "";
  const about = tag === ANY_TAG ? "" : ` with tag ${tag}`;
  switch (words[at + R_KIND]) {
    case RecordKind.SEND:
      // The protocol's own: it is in its books.
      return (flags & RecordFlag.KEPT) !== 0 ? "" : `a send to rank ${peer}${about}`;
    case RecordKind.RECEIVE:
      return `a receive from ${peer === ANY_SOURCE ? "any rank" : `rank ${peer}`}${about}`;
    case RecordKind.OPERATION:
      return "a collective operation";
    default:
      return "";
  }
}

/** Bytes that came before their receive, and where they are. */
interface StoredPayload {
  readonly bytes: number;
  pointer: number;
}

/** The payloads of all messages that are here without a receive; in the same order after a restore. */
export function storedPayloads({ engine }: Process): StoredPayload[] {
  const { words } = engine.records;
  const found: StoredPayload[] = [];
  for (let at = 0; at < words.length; at += recordWords) {
    if (words[at + R_KIND] !== RecordKind.ENVELOPE || words[at + R_MODE] !== PacketKind.EAGER) continue;
    const bytes = words[at + R_BYTES]!;
    if (bytes === 0) continue;
    found.push({
      bytes,
      get pointer() {
        return words[at + R_POINTER]!;
      },
      set pointer(pointer) {
        words[at + R_POINTER] = pointer;
      },
    });
  }
  return found;
}
