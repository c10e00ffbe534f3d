/** What processes of the fault-simulation layer say to each other, for people: one line for each message. */
import { callsOfWords, type RecentCall } from "../../core/fault-layer/recent-collectives.ts";
import { Purpose, type SyncVerdict, verdictOfWords } from "../../core/fault-layer/report.ts";
import { Say } from "../../core/fault-layer/side-channel.ts";

export const nameOfSay = (kind: Say): string => Object.entries(Say).find(([, value]) => value === kind)![0];

const callText = ({ kind, bytes, tag }: RecentCall): string => `${kind} #${tag}${bytes === 0 ? "" : ` of ${bytes} B`}`;

const listText = (calls: readonly RecentCall[]): string => calls.map(callText).join(", ");

function purposesText(purposes: number): string {
  const names = Object.entries(Purpose).filter(([, bit]) => (purposes & bit) !== 0);
  return names.map(([name]) => name.toLowerCase()).join("+");
}

function reportText(number: number, verdict: SyncVerdict): string {
  const { purposes, living, isRevoked, collectivesMin, collectivesMax, collectivesOwner, firstLacked, early } = verdict;
  const isEven = collectivesMin === collectivesMax;
  const parts = [
    `synchronisation ${number}`,
    purposes === Purpose.NONE ? "" : `to ${purposesText(purposes)}`,
    isRevoked ? "revoked" : "",
    `${living} living`,
    verdict.dead.length === 0 ? "" : `dead ${verdict.dead.join(" ")}`,
    `first lacked #${firstLacked}`,
    isEven
      ? `${collectivesMax} started`
      : `${collectivesMin} to ${collectivesMax} started, most by ${collectivesOwner}`,
    early === null ? "" : `begun ${callText(early)}`,
    verdict.extra.length === 0 ? "" : `list ${listText(callsOfWords(verdict.extra))}`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function wordsText(kind: Say, words: readonly number[]): string {
  switch (kind) {
    case Say.ASK:
      return `question ${words[0]}`;
    case Say.ANSWER:
      return `question ${words[0]}, ${words[1] === 0 ? "alive" : "dead"}`;
    case Say.DEATH:
      return `of ${words[0]}, ${words[1]} started, first lacked #${words[2]}`;
    case Say.LIST_WANTED:
      return `from ${words[0]} on`;
    case Say.LIST:
      return listText(callsOfWords(words));
    case Say.REPORT:
    case Say.REPORT_REVOKED:
    case Say.VERDICT:
    case Say.VERDICT_REVOKED: {
      const said = verdictOfWords(words);
      return said === null ? words.join(" ") : reportText(said.number, said.verdict);
    }
    // Contexts are numbers that mean nothing to people.
    case Say.RECEIVE:
    case Say.REVOKE:
      return "";
    default:
      return words.join(" ");
  }
}

/** `place`: the communicator that it concerns; empty: the two processes. */
export function saidText(from: number, to: number, kind: Say, words: readonly number[], place: string): string {
  const text = wordsText(kind, words);
  return `${from} -> ${to} ${place === "" ? "" : `in ${place}: `}${nameOfSay(kind)}${text === "" ? "" : ` ${text}`}`;
}
