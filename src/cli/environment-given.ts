/** The environment that `--env` and `--sandbox` give to a program. */
import { UsageError } from "./complain.ts";

/** Undefined: the environment of this process. In a sandbox, the named variables and no others. */
export function environmentGiven(
  named: readonly string[],
  isSandbox: boolean,
  ours: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<Record<string, string>> | undefined {
  if (!isSandbox && named.length === 0) return undefined;
  const inherited = isSandbox
    ? []
    : Object.entries(ours).filter((each): each is [string, string] => each[1] !== undefined);
  return Object.fromEntries([...inherited, ...named.map((text) => variableOf(text, ours))]);
}

function variableOf(text: string, ours: Readonly<Record<string, string | undefined>>): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at === 0 || text === "")
    throw new UsageError(`Cannot give the program the variable "${text}": say --env NAME=value`);
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  const value = ours[text];
  if (value === undefined) {
    throw new UsageError(`Cannot give the program the variable ${text}: it is not set here; say --env ${text}=value`);
  }
  return [text, value];
}
