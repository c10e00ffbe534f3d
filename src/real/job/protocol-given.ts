/** Which protocol a job was given, and the values of its options. */
import type { ProtocolDefinition } from "../../core/ft/definition.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import { protocolNamed, protocolNames } from "../../core/ft/protocol-named.ts";
import { protocols } from "../../core/ft/registry.ts";

interface ProtocolGiven {
  readonly protocol: ProtocolDefinition;
  readonly protocolOptions: OptionValues;
}

/** `options`: with those of every protocol among them. A text: what is wrong. */
export function protocolGiven(name: string, options: object): ProtocolGiven | string {
  const protocol = protocolNamed(name);
  if (protocol === undefined) return `Cannot use protocol "${name}": there is ${protocolNames.join(", ")}`;
  const given = options as OptionValues;
  for (const { key, elsewhere } of protocols.flatMap((it) => it.options)) {
    if (given[key] === undefined || protocol.options.some((option) => option.key === key)) continue;
    const owners = protocols.filter((it) => it.options.some((option) => option.key === key));
    return elsewhere(alternatives(owners.map((owner) => owner.name)));
  }
  const values = protocol.options.flatMap(({ key }) => (given[key] === undefined ? [] : [[key, given[key]]]));
  return { protocol, protocolOptions: Object.fromEntries(values) };
}

/** "a", "a or b", "a, b or c". */
const alternatives = (names: readonly string[]): string => names.join(", ").replace(/, ([^,]*)$/, " or $1");
