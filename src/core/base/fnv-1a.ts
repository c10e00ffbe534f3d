/** FNV-1a (Fowler, Noll and Vo): 32 bits that notice most differences, for short texts and bytes. Neither for secrets nor for files. */
export function fnv1a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash | 0;
}
