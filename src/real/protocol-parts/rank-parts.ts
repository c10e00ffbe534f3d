/** What protocols need of the machine in a rank's thread. A protocol that needs nothing of it has no line here. */
import { logging } from "../../core/ft/logging/definition.ts";
import { loggingRank } from "../logging/logging-rank.ts";
import type { NewRankPart } from "../part-hosts/rank-part.ts";

export const rankParts: Readonly<Record<string, NewRankPart>> = { [logging.name]: loggingRank };
