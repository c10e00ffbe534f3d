/** "10.0.0.1:4000", "10.0.0.1", "[::1]:4000", "::1": an address and perhaps a port. */
import { UsageError } from "./complain.ts";

interface AddressGiven {
  readonly address: string;
  readonly port: number | undefined;
}

const portMax = 65_535;

export function addressGiven(text: string, option: string): AddressGiven {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text);
  const plain = /^([^:[\]]+)(?::(\d+))?$/.exec(text);
  // An address of the sixth version alone has more than one colon.
  const bare = /^[^[\]]*:[^[\]]*:[^[\]]*$/.test(text) ? [text, text, undefined] : null;
  const [, address, port] = bracketed ?? plain ?? bare ?? [];
  const number = port === undefined ? undefined : Number(port);
  if (address === undefined || (number !== undefined && (number < 1 || number > portMax)))
    throw new UsageError(`Cannot use "${text}" for ${option}: it must be address:port, as 10.0.0.1:4000`);
  return { address, port: number };
}
