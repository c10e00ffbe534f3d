/**
 * An image that cannot be written or read. One line in our grammar, without the name of the file, which this folder does not
 * know: `real/image` puts it in front.
 */
export class ImageError extends Error {
  override readonly name = "ImageError";
}
