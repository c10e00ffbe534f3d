/**
 * An agreement that the program takes part in. Where deaths reach the program it is one of agreements.ts. Where a protocol keeps them from it
 * nobody ever dies for the program: the flags of all members decide, and they travel in messages, which such protocols replay, keep
 * and send again as any others.
 */
import { saves } from "../base/saved-classes.ts";
import type { Agreement, Verdict } from "./agreement.ts";
import type { Communicator } from "./communicator.ts";
import { draftOf } from "./communicators/draft.ts";
import { unionOf } from "./communicators/member-order.ts";
import { agreementTag } from "./communicators/task-tags.ts";
import { WordExchange } from "./communicators/word-exchange.ts";
import { contextCandidate } from "./context.ts";
import type { Process } from "./process.ts";

/** Keeps their contexts from those of communicators: a revoked communicator agrees as well as any other. */
const flagsSalt = 0x41475245;

class FlagExchange {
  /** Among the agreements of the communicator. */
  readonly number: number;
  private readonly exchange: WordExchange;
  private readonly draft: Communicator;

  constructor(process: Process, comm: Communicator, flags: number) {
    this.number = comm.agreements++;
    this.draft = draftOf(process, contextCandidate(comm.context ^ flagsSalt, this.number), unionOf(comm));
    this.exchange = new WordExchange(this.draft, [flags], agreementTag);
  }

  talksIn(comm: Communicator): boolean {
    return this.draft === comm;
  }

  advance(process: Process): Verdict | null {
    const all = this.exchange.advance(process);
    if (all === null) return null;
    return { flags: all.reduce((flags, word) => flags & word, -1), failures: 0, error: this.exchange.error };
  }
}

export type JoinedAgreement = Agreement | FlagExchange;

/** The program has come to the next agreement of a communicator. */
export function joinAgreement(process: Process, comm: Communicator, flags: number): JoinedAgreement {
  const hearsOfDeaths = process.protocol?.deathEndsRequests ?? true;
  return hearsOfDeaths ? process.agreements.join(comm, flags) : new FlagExchange(process, comm, flags);
}

/** Null while there is none. Not asked again afterwards. */
export function nextVerdict(process: Process, agreement: JoinedAgreement): Verdict | null {
  return agreement instanceof FlagExchange ? agreement.advance(process) : process.agreements.verdictOf(agreement);
}

/** Is it by this communicator, which nobody else has, that the members talk? */
export function agreesIn(agreement: JoinedAgreement | null, comm: Communicator): boolean {
  return agreement instanceof FlagExchange && agreement.talksIn(comm);
}

saves({ FlagExchange });
