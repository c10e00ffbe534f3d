/** What members of a correlated set have sent each other, as it crosses between processes. */
import { list, object, type Shape, whole } from "../base/value-shape.ts";
import type { SentInSet, WaitingMessage } from "./set-split.ts";

const rank = whole(0, 0x7fffffff);
/** Numbers of messages, contexts and tags are 32 bits. */
const word = whole(-0x80000000, 0xffffffff);

export const sentInSetShape: Shape<SentInSet> = object<SentInSet>({
  from: rank,
  to: rank,
  next: word,
  unsent: list(word),
  waiting: list(list(word, 4) as unknown as Shape<WaitingMessage>),
});
