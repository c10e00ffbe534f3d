/** The longer a program has run, the more of what its node does for it is optimised: shorter ones do not repay it (docs/adr/0085-a-program-is-let-begin.md, 0089). */
import { setFlagsFor } from "../../v8/flags.ts";

const steps = [
  { afterMs: 1000, purpose: "optimise the hottest" },
  { afterMs: 4000, purpose: "optimise from now on" },
  { afterMs: 8000, purpose: "optimise for long" },
] as const;

/** The program begins, and "let a program begin" is set. No process stays for the steps that are to come. */
export function optimiseInTime(set: (purpose: (typeof steps)[number]["purpose"]) => void = setFlagsFor): void {
  for (const { afterMs, purpose } of steps) setTimeout(() => set(purpose), afterMs).unref();
}
