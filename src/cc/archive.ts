/** Archives of objects (`.a`), as `ar` has written them for half a century: headers of 60 bytes, members at even offsets. */

const magic = "!<arch>\n";
const headerBytes = 60;
const sizeAt = 48;
/** The index of symbols, and names that are too long for a header. */
const noObject = /^(\/|\/\/|\/SYM64\/|__\.SYMDEF.*) *$/;

/** The objects of an archive; undefined: this is none. */
export function archiveMembers(bytes: Uint8Array): Uint8Array[] | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.toString("latin1", 0, magic.length) !== magic) return undefined;
  const members: Uint8Array[] = [];
  for (let at = magic.length; at + headerBytes <= buffer.length; ) {
    const size = Number(buffer.toString("latin1", at + sizeAt, at + sizeAt + 10));
    if (!noObject.test(buffer.toString("latin1", at, at + 16)))
      members.push(bytes.subarray(at + headerBytes, at + headerBytes + size));
    at += headerBytes + size + (size % 2);
  }
  return members;
}
