// The media type of a content: an image by its bytes, anything else by what was sent with it.
import { imageType } from './image-type.ts';

const UNKNOWN = 'application/octet-stream';
/** A type and a subtype (RFC 6838, 4.2), as long as the rules for registering allow. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** `head`: its first bytes; `contentType`: what was sent with it, '' for nothing. What only claims to be an image is of no known type. */
export function mediaTypeOf(head: Uint8Array, contentType: string): string {
  const image = imageType(head);
  if (image !== null) return image;
  const sent = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  return MEDIA_TYPE.test(sent) && !sent.startsWith('image/') ? sent : UNKNOWN;
}
