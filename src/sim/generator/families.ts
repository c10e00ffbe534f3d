/** All families of actions. A new one is a file beside this one and a line here. */
import { cancellations, racingReceives, racingSends } from "./cancellations.ts";
import { blockingCollectives, collectives } from "./collectives.ts";
import { communicators } from "./communicators.ts";
import type { MakeFamily } from "./family.ts";
import { fileUses } from "./file-uses.ts";
import { inputReads } from "./input-reads.ts";
import { interCommunicators } from "./inter-communicators.ts";
import { lines } from "./lines.ts";
import { messageGroups } from "./message-groups.ts";
import { messages } from "./messages.ts";
import { partitionedMessages } from "./partitioned-messages.ts";
import { pauses, quietPoints } from "./pauses.ts";
import { persistentCollectives } from "./persistent-collectives.ts";
import { persistentMessages } from "./persistent-messages.ts";
import { readySends } from "./ready-sends.ts";
import { groupSetAsides, setAsides } from "./set-asides.ts";
import { sharedFiles } from "./shared-files.ts";
import { topologies } from "./topologies.ts";

export const families: readonly MakeFamily[] = [
  messages,
  messageGroups,
  readySends,
  persistentMessages,
  setAsides,
  groupSetAsides,
  cancellations,
  racingReceives,
  racingSends,
  collectives,
  persistentCollectives,
  communicators,
  interCommunicators,
  topologies,
  quietPoints,
  pauses,
  blockingCollectives,
  lines,
  fileUses,
  partitionedMessages,
  inputReads,
  sharedFiles,
];
